"""What is shown after full marks: a compact answer, the reference in its small steps, other ways, and the next one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import dropwhile
from pathlib import Path

from grader.exercise.catalog import Catalog, Exercise
from grader.pages import catalogue
from grader.pages.wording import View
from grader.store.standings import FULL

_REFERENCE = "The reference, in small steps"
_HEADER = ("# verdict:", "# diagnosis:")  # what an example says of itself


def solutions_view(catalog: Catalog, exercise: Exercise, best: Mapping[str, float]) -> View:
    """Return the ways to write an exercise, and the next one; None for whoever has not got full marks on it."""
    if best.get(exercise.id, 0.0) < FULL:
        return None
    coming = catalogue.following(catalog, exercise.id, best)
    return {
        "ways": [{"title": title, "code": code} for title, code in _ways(exercise)],
        "next": {"text": catalogue.numbered(catalog, coming.id), "href": catalogue.address(coming.id)}
        if coming
        else None,
    }


def _ways(exercise: Exercise) -> tuple[tuple[str, str], ...]:
    chosen = _chosen(exercise.folder.parent / "ways.toml").get(exercise.id, {})
    ways = [(title, exercise.folder / "examples" / f"{name}.py") for name, title in chosen.items()]
    ways.insert(1, (_REFERENCE, exercise.reference_path))  # behind the first one, which is compact
    return tuple((title, _code(path)) for title, path in ways)


@cache
def _chosen(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the titles of chosen examples, by exercise and by the example's name; none where there is no such file."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@cache
def _code(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(dropwhile(lambda line: line.startswith(_HEADER), lines)).lstrip("\n")
