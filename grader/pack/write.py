"""Writes a pack: what a student needs to solve an exercise and to check the answer, and nothing that gives it away."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from grader.box.inline import observe_all
from grader.exercise.catalog import ROOT, Exercise
from grader.exercise.spec import Spec
from grader.judge.grade import observe_reference
from grader.judge.sheet import of_cases
from grader.pack import templates
from grader.pack.closure import files_needed
from grader.pack.contents import write_cases, write_observations
from grader.pack.manifest import CASES, DATA, EXPECTED, MANIFEST, ROUNDED, SPEC, Manifest

_ALWAYS = ("torch", "numpy", "safetensors", "pydantic", "pytest")


def contents(exercise: Exercise, seed: int) -> dict[str, bytes]:
    """Return the files of a pack by path, with tensors drawn from `seed`.

    Raises:
        AuthorError: the exercise is written wrongly, or its reference fails.
    """
    data, grader = _data(exercise, seed), _grader(exercise.spec)
    texts = {
        "README.md": templates.README,
        "conftest.py": templates.SUMMARY,
        "pytest.ini": templates.SETTINGS,
        f"test_{exercise.id}.py": templates.TEST,
    }
    return {
        **{name: _filled(text, exercise).encode() for name, text in texts.items()},
        "requirements.txt": _requirements(grader.values()).encode(),
        "statement.md": exercise.statement.encode(),
        f"{exercise.id}.py": exercise.starter.encode(),
        f"{DATA}/{MANIFEST}": Manifest.of(exercise.id, seed, data).model_dump_json(indent=2).encode(),
        **{f"{DATA}/{name}": content for name, content in data.items()},
        **grader,
    }


def _grader(spec: Spec) -> dict[str, bytes]:
    """Return what is needed of the grader: of drivers and checks only the exercise's own, for others hold answers."""
    kinds = (part.entry.kind for part in (spec, *spec.parts.values()))
    tables = {
        "DRIVERS": frozenset(f"Kind.{kind.name}" for kind in kinds),
        "MODELS": frozenset(repr(case.constructor["model"]) for case in spec.cases if "model" in case.constructor),
        "TRAVELLING": frozenset(),
        "CHECKS": frozenset(repr(check.check) for check in spec.checks),
    }
    return files_needed("grader.pack.check", ROOT, tables)


def _data(exercise: Exercise, seed: int) -> dict[str, bytes]:
    cases = exercise.cases(seed)
    plan = of_cases(exercise.spec, cases).plan
    expected, _ = observe_reference(exercise, plan)
    # In float32 whatever is not lower already: a file that insists on it is judged by that.
    rounded = observe_all(plan.untrained().in_dtype("float32"), exercise.reference())
    return {
        SPEC: (exercise.folder / "exercise.toml").read_bytes(),
        CASES: write_cases(cases, plan),
        EXPECTED: write_observations(expected, plan),
        ROUNDED: write_observations(rounded, plan),
    }


def _filled(text: str, exercise: Exercise) -> str:
    return text.replace("ID", exercise.id).replace("TITLE", exercise.title)


def _requirements(modules: Iterable[bytes]) -> str:
    """Return the lines that pin what a pack needs, as this grader is pinned itself."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    pinned = {match[0]: line for line in lines if (match := re.match(r"[\w-]+(?===)", line))}
    code = b"\n".join(modules).decode()
    also = (name for name in pinned if re.search(rf"^ *(import|from) {name}\b", code, re.MULTILINE))
    return "".join(f"{pinned[name]}\n" for name in dict.fromkeys((*_ALWAYS, *also)))


def write_folder(files: dict[str, bytes], folder: Path) -> None:
    """Write the files of a pack into a new folder.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def write_zip(files: dict[str, bytes], path: Path) -> None:
    """Write the files of a pack into a new zip file, below a folder of its name; the same files give the same bytes.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}"), content, zipfile.ZIP_DEFLATED)
