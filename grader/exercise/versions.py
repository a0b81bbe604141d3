"""Versions of what decides a score.

Two things decide: an exercise's files, and the code that grades. Wording decides nothing, so titles, hints, statements,
comments and docstrings may change without a new version.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from grader.exercise import ROOT
from grader.exercise.spec import Spec

_GRADER = Path(__file__).resolve().parents[1]
# What decides a score beside an exercise's own files.
_DECIDING = (*(_GRADER / name for name in ("box", "checks", "exercise", "judge")), ROOT / "exercises" / "families")
_WORDING = frozenset({
    *("title", "summary", "hints", "sources", "teaches"),
    *("track", "order", "difficulty", "minutes", "needs", "devices"),
})  # fmt: skip
_DIGITS = 12
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def exercise_version(spec: Spec, modules: Iterable[Path]) -> str:
    """Return a hash over what decides a score in an exercise's files: cases, checks, and the modules that are there."""
    digest = hashlib.sha256(json.dumps(_without_wording(spec.model_dump(mode="json"))).encode())
    for path in modules:
        if path.is_file():
            digest.update(b"\0" + ast.dump(_without_docstrings(ast.parse(path.read_bytes()))).encode())
    return digest.hexdigest()[:_DIGITS]


@cache
def grader_version() -> str:
    """Return a hash over the code that grades, as it stands on the disk."""
    digest = hashlib.sha256()
    for folder in _DECIDING:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder.parent)
            digest.update(str(name).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:_DIGITS]


def _without_wording(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_wording(part) for key, part in value.items() if key not in _WORDING}
    return [_without_wording(part) for part in value] if isinstance(value, list) else value


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in _statements(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield `node` and all statements in it; what has a docstring is never part of an expression."""
    yield node
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, block, ())
        for one in inner if isinstance(inner, list) else ():  # the body of a lambda is no list
            yield from _statements(one)
