"""Routes to code of ours that answers an exercise, and to a training that did not take place: none of them earns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.sandbox.runner import Sandbox

FOLDER = Path(__file__).parents[1] / "hostile" / "labs"
_HEAD = re.compile(r'"""(.+\.)\n\nExercise: (\w+)\nAt most: (\d+) points( for learning)?\n"""\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Route:
    """One file: the exercise it is handed in for, and how many points it may earn, in all or for learning alone."""

    name: str
    exercise: str
    points: float
    learning: bool
    source: str


def _read(path: Path) -> Route:
    source = path.read_text(encoding="utf-8")
    head = _HEAD.match(source)
    assert head is not None, f"{path.name} does not begin with its strategy, its exercise and its points"
    _, exercise, points, learning = head.groups()
    return Route(path.stem, exercise, float(points), learning is not None, source)


_ROUTES = [_read(path) for path in sorted(FOLDER.glob("*.py"))]


@pytest.mark.parametrize("route", _ROUTES, ids=lambda route: route.name)
def test_a_route_earns_no_more_than_its_file_says(route: Route, sandbox: Sandbox) -> None:
    """Handed in through the real sandbox; the right answers to the same exercises are examples that earn full marks."""
    report = grade(read_exercise(ROOT / "exercises" / route.exercise), route.source, seed=3, box=sandbox)

    assert report.incident == ""
    earned = report.dimensions["learning"].earned if route.learning else report.score
    assert earned <= route.points
