"""Answers that behave differently while they are recorded, or forge what the recorder sends: it changes no verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import Report, Status
from grader.judge.text import clean
from grader.sandbox.runner import Sandbox
from tests.limited import with_limits

FOLDER = Path(__file__).parents[1] / "hostile" / "locating"
_HEAD = re.compile(r'"""(.+\.)\n\nExercise: (\w+)\nTold: (nothing|anything)\n"""\n', re.DOTALL)
_PLAIN = """import torch


def simple_attention(x):
    scores = x @ x.T * 1.7
    weights = torch.softmax(scores, dim=-1)
    return weights @ x, weights
"""


@dataclass(frozen=True, slots=True)
class Route:
    """One file: the exercise it is handed in for, and whether anything may be said of where it begins to differ."""

    name: str
    exercise: str
    told: bool
    source: str


def _read(path: Path) -> Route:
    source = path.read_text(encoding="utf-8")
    head = _HEAD.match(source)
    assert head is not None, f"{path.name} does not begin with its strategy, its exercise and what is told"
    _, exercise, told = head.groups()
    return Route(path.stem, exercise, told == "anything", source)


def _grade(source: str, sandbox: Sandbox, exercise: str = "simple_attention") -> Report:
    limited = with_limits(read_exercise(ROOT / "exercises" / exercise), cpu_seconds=2.0)
    return grade(limited, source, seed=3, box=sandbox)


_ROUTES = [_read(path) for path in sorted(FOLDER.glob("*.py"))]


@pytest.fixture(scope="module")
def plain(sandbox: Sandbox) -> Report:
    """Give the report on the same wrong answer without any trick."""
    return _grade(_PLAIN, sandbox)


@pytest.mark.parametrize("route", _ROUTES, ids=lambda route: route.name)
def test_what_an_answer_does_while_it_is_recorded_changes_no_verdict(
    route: Route, plain: Report, sandbox: Sandbox
) -> None:
    """Points, checks, prints and clues are those of the first run, nothing of ours breaks, and the text is harmless."""
    report = _grade(route.source, sandbox, route.exercise)

    assert plain.location is not None
    assert (report.status, report.score, report.checks) == (Status.GRADED, plain.score, plain.checks)
    assert (report.output, report.advice, report.incident) == (plain.output, plain.advice, "")
    assert route.told or report.location is None
    if report.location is not None:
        assert report.location.title == clean(report.location.title)
        assert report.location.message == clean(report.location.message)
        assert report.location.line is None or report.location.line <= route.source.count("\n") + 1
