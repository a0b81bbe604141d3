"""Inputs whose rows add up to one, and how they are changed to see who has a say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from grader.checks.finding import Verdict
from grader.exercise.catalog import Exercise
from grader.judge.sheet import draw_up
from tests.checks.workshop import build, change, grade_here, line

_TOML = """
format_version = 1
title = "A small one"
summary = "For tests."
track = "Tests"
order = 1
difficulty = "easy"
minutes = 1
sources = ["None"]

[entry]
name = "past"
kind = "function"
arguments = ["weights"]

[inputs.weights]
axes = ["batch", "query", "key"]
kind = "shares"
[returns.kept]
axes = ["batch", "query", "key"]

[[cases]]
name = "small"
title = "small"
sizes = { batch = 3, query = 5, key = 5 }
allow_equal_sizes = true

[[checks]]
check = "values"
points = 40
cases = ["small"]
[[checks]]
check = "influence"
title = "no future"
points = 30
cases = ["small"]
of = ["weights"]
axis = "key"
output = "kept"
rows = "query"
[[checks]]
check = "influence"
title = "no neighbour"
points = 30
cases = ["small"]
of = ["weights"]
axis = "batch"
output = "kept"
rows = "batch"
"""
_RIGHT = """
import torch

def past(weights):
    kept = weights.tril()
    return kept / kept.sum(dim=-1, keepdim=True)
"""
_FUTURE, _NEIGHBOUR = "small: no future", "small: no neighbour"


@pytest.fixture
def past(tmp_path: Path) -> Exercise:
    """A function of weights whose rows add up to one."""
    return build(tmp_path, _TOML, _RIGHT)


def test_rows_add_up_to_one_in_every_call(past: Exercise) -> None:
    """Whatever is changed, no row has a negative share, and all of it together is one."""
    calls = draw_up(past, 3).plan.calls
    tensors = [value for call in calls for value in call.arguments.values() if isinstance(value, Tensor)]

    assert len(tensors) == 1 + 5 + 3
    for weights in tensors:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 5, dtype=torch.float64))
        assert bool((weights > 0).all())


def test_an_answer_that_needs_them_to_add_up_sees_no_future(past: Exercise) -> None:
    """Logarithms of weights, and one less what the future has, are right for weights alone; that is all they get."""
    for edit in (
        ("kept / kept.sum(dim=-1, keepdim=True)", "weights.log().masked_fill(kept == 0, -torch.inf).softmax(-1)"),
        ("kept.sum(dim=-1, keepdim=True)", "(1 - weights.triu(1).sum(dim=-1, keepdim=True))"),
    ):
        report = grade_here(past, change(_RIGHT, edit))

        assert [check.message for check in report.checks if check.status is not Verdict.PASSED] == []


def test_a_look_ahead_shows(past: Exercise) -> None:
    """A triangle that starts one position late lets one position of the future in."""
    report = grade_here(past, change(_RIGHT, ("weights.tril()", "weights.tril(1)")))

    assert line(report, _FUTURE).status is Verdict.FAILED
    assert "`kept` at query 0; yours changes" in line(report, _FUTURE).message
    assert line(report, _NEIGHBOUR).status is Verdict.PASSED


def test_a_look_at_the_neighbour_shows(past: Exercise) -> None:
    """Sequences of a batch have nothing to do with each other."""
    report = grade_here(past, change(_RIGHT, ("weights.tril()", "(weights + weights.roll(1, 0)).tril()")))

    assert line(report, _FUTURE).status is Verdict.PASSED
    assert "changing `weights` at batch 2 must not change `kept` at batch 0" in line(report, _NEIGHBOUR).message


def test_a_second_call_gets_other_shares(past: Exercise) -> None:
    """What is asked a second time adds up to one as well, and an answer kept from the first call shows."""
    steady = change(_TOML, ('check = "values"\npoints = 40', 'check = "steady"\npoints = 40'))
    kept = change(_RIGHT, ("kept = weights.tril()", "kept = seen.setdefault(0, weights.tril())"))

    exercise = build(past.folder / "again", steady, _RIGHT)
    other = next(call for call in draw_up(exercise, 3).plan.calls if call.name == "small/other").arguments["weights"]
    report = grade_here(exercise, f"seen = {{}}\n{kept}")

    assert isinstance(other, Tensor)
    torch.testing.assert_close(other.sum(dim=-1), torch.ones(3, 5, dtype=torch.float64))
    assert "called a second time, with different inputs" in line(report, "small: repeated calls").message
