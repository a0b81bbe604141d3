"""Versions of what decides a score, and the files of an exercise in a form that can be kept.

Two things decide: an exercise's files, and the code that grades. Wording decides nothing, so titles, hints, statements,
comments and docstrings may change without a new version.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from grader.exercise.catalog import Exercise, read_exercise

_GRADER = Path(__file__).resolve().parents[1]
_DECIDING = ("box", "checks", "exercise", "judge")  # the packages that decide a score
_WORDING = frozenset({
    *("title", "summary", "hints", "sources", "teaches"),
    *("track", "order", "difficulty", "minutes", "needs", "devices"),
})  # fmt: skip
_MODULES = ("inputs.py", "mistakes.py")
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold: the same files give the same bytes
_DIGITS = 12
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def exercise_version(exercise: Exercise) -> str:
    """Return a hash over what decides a score in an exercise's files: cases, checks, inputs, mistakes, reference."""
    digest = hashlib.sha256(json.dumps(_without_wording(exercise.spec.model_dump(mode="json"))).encode())
    for path in (*(exercise.folder / name for name in _MODULES), exercise.reference_path):
        if path.is_file():
            digest.update(b"\0" + ast.dump(_without_docstrings(ast.parse(path.read_bytes()))).encode())
    return digest.hexdigest()[:_DIGITS]


@cache
def grader_version() -> str:
    """Return a hash over the code that grades, as it stands on the disk."""
    digest = hashlib.sha256()
    for package in _DECIDING:
        for path in sorted((_GRADER / package).rglob("*.py")):
            digest.update(str(path.relative_to(_GRADER)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:_DIGITS]


def pack(exercise: Exercise) -> bytes:
    """Return the files that `unpack` makes an exercise of again, as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(exercise):
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack(content: bytes, id: str, root: Path) -> Exercise:
    """Write what `pack` gave below `root`, an empty folder; return the exercise.

    Raises:
        AuthorError: this grader does not understand it any more.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(root)
    return read_exercise(root / "exercises" / id, root)


def _files(exercise: Exercise) -> Iterator[tuple[str, bytes]]:
    folder = f"exercises/{exercise.id}"
    for name in ("exercise.toml", *_MODULES):
        if (path := exercise.folder / name).is_file():
            yield f"{folder}/{name}", path.read_bytes()
    yield f"reference/{exercise.id}.py", exercise.reference_path.read_bytes()
    if (declined := exercise.folder.parent / "declined.toml").is_file():
        yield "exercises/declined.toml", declined.read_bytes()


def _without_wording(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_wording(part) for key, part in value.items() if key not in _WORDING}
    return [_without_wording(part) for part in value] if isinstance(value, list) else value


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree
