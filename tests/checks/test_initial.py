"""How a weight begins: around 0, with the contract's standard deviation, as far as its numbers can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.checks.finding import Verdict
from grader.checks.properties import alike
from grader.exercise.catalog import Exercise
from tests.checks.workshop import BLOCK_TOML, build, change, grade_here, line

_START = BLOCK_TOML[: BLOCK_TOML.index("[entry]")]
_TOML = (
    _START
    + """
[entry]
name = "Positions"
kind = "module"
arguments = ["x"]
constructor = ["width", "max_len"]
defaults = { max_len = 400 }

[inputs.x]
axes = ["time", "width"]
[returns.y]
axes = ["time", "width"]
[weights]
table = { kind = "table", inputs = "max_len", outputs = "width" }

[[cases]]
name = "small"
title = "small"
sizes = { time = 7, width = 12 }

[[checks]]
check = "shape"
points = 20
cases = ["small"]
[[checks]]
check = "values"
points = 40
cases = ["small"]
[[checks]]
check = "initial"
points = 40
cases = ["small"]
weight = "table"
std = 0.02
"""
)
_ANSWER = """
import torch
from torch import nn

def begin(table):
    nn.init.normal_(table.weight, std=0.02)

class Positions(nn.Module):
    def __init__(self, width, max_len=400):
        super().__init__()
        self.table = nn.Embedding(max_len, width)
        begin(self.table)

    def forward(self, x):
        return x + self.table.weight[: x.shape[0]]
"""
_MISTAKES = '''
from torch import nn
from grader.exercise.mistakes import mistake

@mistake(replaces="begin", dimension="numerics")
def left_alone(table):
    """Your table begins with 1.

    Say with how much.
    """

@mistake(replaces="begin", dimension="numerics")
def all_zero(table):
    """Your table begins with 0.

    Say with how much.
    """
    nn.init.zeros_(table.weight)
'''
_BEGIN = "nn.init.normal_(table.weight, std=0.02)"


@pytest.fixture
def positions(tmp_path: Path) -> Exercise:
    """Return an exercise whose table of 4,800 numbers must begin with 0.02."""
    return build(tmp_path, _TOML, _ANSWER, _MISTAKES)


@pytest.mark.parametrize(
    "begin",
    [
        _BEGIN,
        "nn.init.trunc_normal_(table.weight, std=0.02)",
        "table.weight.data.mul_(0.02)",
        "nn.init.uniform_(table.weight, -0.02 * 3**0.5, 0.02 * 3**0.5)",
        "table.weight.data.normal_(0, 0.02); table.weight.data[0] = 0",
    ],
)
def test_whatever_has_the_standard_deviation_is_accepted(begin: str, positions: Exercise) -> None:
    """The distribution is free, and so is the way of drawing it."""
    assert grade_here(positions, change(_ANSWER, (_BEGIN, begin))).score == 100


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        ("pass", "must be initialised with standard deviation 0.02; over its 4800 numbers, yours has 1"),
        ("nn.init.zeros_(table.weight)", "over its 4800 numbers, yours has 0"),
        ("nn.init.normal_(table.weight, std=0.022)", "yours has 0.022"),
        (
            "nn.init.normal_(table.weight, 0.01, 0.02)",
            "must be initialised with mean 0; over its 4800 numbers, yours has mean 0.0",
        ),
        ("table.weight.data.fill_(float('nan'))", "yours contains NaN or infinity"),
    ],
)
def test_another_beginning_costs_its_points_and_says_so(begin: str, said: str, positions: Exercise) -> None:
    """What the weight is given afterwards hides it from every other check."""
    report = grade_here(positions, change(_ANSWER, (_BEGIN, begin)))

    assert report.score == 60
    assert said in line(report, "small: initial values").message


@pytest.mark.parametrize(("begin", "named"), [("pass", "left_alone"), ("nn.init.zeros_(table.weight)", "all_zero")])
def test_a_wrong_beginning_is_diagnosed(begin: str, named: str, positions: Exercise) -> None:
    """The mistake draws other numbers; it is recognised by how large they are."""
    report = grade_here(positions, change(_ANSWER, (_BEGIN, f"torch.rand(3); {begin}")))

    assert [found.mistake for found in report.diagnosis] == [named]


def test_a_beginning_that_no_mistake_has_is_not_diagnosed(positions: Exercise) -> None:
    """Neither known mistake begins with 0.2."""
    report = grade_here(positions, change(_ANSWER, (_BEGIN, "nn.init.normal_(table.weight, std=0.2)")))

    assert report.score == 60
    assert report.diagnosis == ()


def test_a_module_that_cannot_be_built_is_not_asked_how_it_began(positions: Exercise) -> None:
    """The check is skipped, since there is no shape either."""
    report = grade_here(positions, change(_ANSWER, ("begin(self.table)", "raise ValueError")))

    assert line(report, "small: initial values").status is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0.0, 1.0), (0.001, 1.01), True),
        ((0.0, 1.0), (0.0, 1.1), False),
        ((0.0, 1.0), (0.1, 1.0), False),
        ((0.0, 0.0), (0.0, 0.0), True),
        ((0.0, 0.02), (0.0, 0.0), False),
        ((float("nan"), 1.0), (float("nan"), 1.0), False),
    ],
)
def test_two_beginnings_are_alike_as_far_as_so_many_numbers_can_tell(
    one: tuple[float, float], other: tuple[float, float], expected: bool
) -> None:
    """Ten thousand numbers tell the mean to 0.08 and the spread to 0.06 of it."""
    assert alike(one, other, 10_000) is expected
