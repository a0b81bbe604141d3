"""Dropout in a plain function, told by an argument whether it trains, and the gradients that come back through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.checks.finding import Verdict
from grader.exercise.catalog import Exercise
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
name = "thin_out"
kind = "function"
arguments = ["weights", "p", "training"]
defaults = { training = true }

[inputs.weights]
axes = ["...", "query", "key"]
kind = "shares"
[returns.dropped]
axes = ["...", "query", "key"]

[[cases]]
name = "training"
title = "training"
sizes = { "..." = [3, 2], query = 12, key = 11 }
arguments = { p = 0.3, training = false }

[[checks]]
check = "shape"
points = 20
cases = ["training"]
[[checks]]
check = "dropout"
points = 40
cases = ["training"]
[[checks]]
check = "dropout_gradient"
points = 40
cases = ["training"]
of = ["weights"]
"""
_RIGHT = """
import torch

def thin_out(weights, p, training=True):
    if not training:
        return weights
    keep = torch.rand_like(weights) >= p
    return weights * keep / (1 - p)
"""
_RETURN = "return weights * keep / (1 - p)"
_SHAPE, _DROPOUT, _GRADIENT = (
    "training: shape and dtype",
    "training: dropout in training",
    "training: gradients through dropout",
)
WRONG = {
    "never told": (
        _DROPOUT,
        ("if not training", "if True"),
        "training mode must drop elements of your output; yours dropped none",
    ),
    "one mask for the batch": (
        _DROPOUT,
        ("rand_like(weights)", "rand_like(weights[:1])"),
        "elements that differ only along axis 0 are dropped together",
    ),
    "whole rows": (
        _DROPOUT,
        ("rand_like(weights)", "rand_like(weights[..., :1])"),
        "elements that differ only along key are dropped together",
    ),
    "graph cut": (
        _GRADIENT,
        (_RETURN, "return weights.detach() * keep / (1 - p)"),
        "no gradient reaches `weights`",
    ),
    "dropped ones pass a gradient": (
        _GRADIENT,
        (_RETURN, "return weights + (weights * keep / (1 - p) - weights).detach()"),
        "in training mode, `gradient of weights` at",
    ),
    "not a number": (
        _GRADIENT,
        (_RETURN, "return torch.where(keep, weights / (1 - p), (weights * 0 / (weights - weights)).nan_to_num())"),
        "NaN or infinite numbers",
    ),
}


@pytest.fixture
def thin_out(tmp_path: Path) -> Exercise:
    """A function with dropout."""
    return build(tmp_path, _TOML, _RIGHT)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "keep",
    [
        "keep = torch.rand_like(weights) > p",
        "keep = torch.bernoulli(torch.full_like(weights, 1 - p))",
        "keep = torch.empty_like(weights).bernoulli_(1 - p)",
    ],
)
def test_honest_dropout_passes_however_it_draws(keep: str, seed: int, thin_out: Exercise) -> None:
    """Every way of drawing is right, and its gradient is judged by what it drew."""
    report = grade_here(thin_out, change(_RIGHT, ("keep = torch.rand_like(weights) >= p", keep)), seed)

    assert [check.message for check in report.checks if check.status is not Verdict.PASSED] == []


@pytest.mark.parametrize(("name", "edit", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_dropout_fails_where_it_is_wrong(
    name: str, edit: tuple[str, str], message: str, thin_out: Exercise
) -> None:
    """What is dropped and what comes back are two lines of the report, and the first wrong one says why."""
    report = grade_here(thin_out, change(_RIGHT, edit))

    failed = [check.name for check in report.checks if check.status is Verdict.FAILED]
    assert failed == [name]
    assert message in line(report, name).message


def test_gradients_are_not_judged_where_dropout_is_wrong(thin_out: Exercise) -> None:
    """They are skipped, for nothing could be read off."""
    report = grade_here(thin_out, change(_RIGHT, ("/ (1 - p)", "")))

    assert line(report, _SHAPE).status is Verdict.PASSED
    assert line(report, _GRADIENT).status is Verdict.SKIPPED
