"""Properties: they hold of right answers and not of wrong ones, and cost nothing unless an exercise says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.exercise.catalog import Exercise
from grader.judge.report import Property, Report
from tests.checks.workshop import ATTEND, ATTEND_TOML, build, change, grade_here

_TAUGHT = """
[[checks]]
check = "row_sums"
points = 0
cases = ["small"]
output = "weights"
teaches = "Weights share one whole out."
[[checks]]
check = "permutation"
points = 0
cases = ["unmasked"]
of = ["key", "value"]
axis = "keys"
output = "output"
teaches = "Attention is over a set of keys."
[[cases]]
name = "unmasked"
title = "unmasked"
sizes = { batch = 2, queries = 4, keys = 5, d_k = 3, d_v = 6 }
inputs = { mask = { kind = "none" } }
"""
_SEEN = 'scores = scores.masked_fill(~mask, float("-inf"))'
_OPTIONAL = f"if mask is not None:\n        {_SEEN}"
_ANSWER = change(ATTEND, (_SEEN, _OPTIONAL))


@pytest.fixture
def taught(tmp_path: Path) -> Exercise:
    """Return an exercise that shows two properties."""
    return build(tmp_path, ATTEND_TOML + _TAUGHT, _ANSWER)


def _holding(report: Report) -> dict[str, bool | None]:
    return {shown.title: shown.holds for shown in report.properties}


def test_properties_of_a_right_answer_hold(taught: Exercise) -> None:
    """They are shown with the sentence that says why they matter."""
    report = grade_here(taught, _ANSWER)

    assert report.score == 100
    assert report.properties == (
        Property("rows add up to one", "Weights share one whole out.", True),
        Property("order does not matter", "Attention is over a set of keys.", True),
    )


def test_a_property_that_fails_says_where_and_costs_nothing(taught: Exercise) -> None:
    """The rows are short by the same factor, so their sums give it away."""
    report = grade_here(taught, change(_ANSWER, ("dim=-1)", "dim=-1) * 0.5")))
    rows, order = report.properties

    assert rows.holds is False
    assert rows.message == "`weights` at (batch 0, queries 0) must add up to 1; yours adds up to 0.5"
    assert order.holds is True
    assert not any("rows add up" in text for text in report.advice)


def test_an_answer_that_counts_its_keys_depends_on_their_order(taught: Exercise) -> None:
    """A bias on the first key moves the output when the keys are turned round."""
    counted = change(_ANSWER, ("    weights =", "    scores = scores + torch.arange(scores.shape[-1])\n    weights ="))

    assert _holding(grade_here(taught, counted)) == {"rows add up to one": True, "order does not matter": False}


def test_what_cannot_be_looked_at_neither_holds_nor_fails(taught: Exercise) -> None:
    """A wrong shape leaves nothing to add up."""
    report = grade_here(taught, change(_ANSWER, ("return output, weights", "return output[0], weights[0]")))

    assert _holding(report)["rows add up to one"] is None


_SEES = """
[[checks]]
check = "influence"
title = "who sees whom"
points = 0
cases = ["small"]
of = ["key", "value"]
axis = "keys"
output = "output"
rows = "queries"
teaches = "A masked key has no effect."
"""
_SOFT = "weights = torch.softmax(scores, dim=-1)"
_SEEN_HERE = {
    "a leak": (("~mask", "~mask & (scores < 0)"), False),
    "a score in the place of -inf": (('float("-inf")', "-3.0"), False),
    "everything is seen": ((_SEEN, "pass"), False),
    "too much is hidden": (("~mask", "~mask.tril(-1).roll(1, 0)"), None),
    "one key is all": ((_SOFT, "weights = torch.eye(5)[:4].expand(2, 4, 5).double() + 0 * scores.nan_to_num()"), None),
    "an exception": ((_SOFT, "weights = torch.softmax(scores, dim=7)"), None),
    "another scale": (("math.sqrt(key", "(2 * key"), True),
    "weights that are twice as large": ((_SOFT, _SOFT.replace("torch", "2 * torch")), True),
    "no batch": (("scores = query @", "scores = 1.5 * query @"), True),
}


@pytest.mark.parametrize(("edit", "holds"), _SEEN_HERE.values(), ids=_SEEN_HERE)
def test_a_property_is_denied_only_by_what_contradicts_it(
    edit: tuple[str, str], holds: bool | None, tmp_path: Path
) -> None:
    """Who hides too much, or raises, does not let a masked key through: nothing is said of that then."""
    report = grade_here(build(tmp_path, ATTEND_TOML + _SEES, ATTEND), change(ATTEND, edit))

    assert _holding(report) == {"who sees whom": holds}


_TURN_TOML = """
format_version = 1
title = "Turn"
summary = "For tests."
track = "Tests"
order = 1
difficulty = "easy"
minutes = 1
sources = ["None"]
[entry]
name = "turn"
kind = "function"
arguments = ["x", "offset"]
defaults = { offset = 0 }
[inputs.x]
axes = ["time", "pair"]
[returns.y]
axes = ["time", "pair"]
[[cases]]
name = "small"
title = "small"
sizes = { time = 5, pair = 2 }
[[checks]]
check = "values"
points = 100
cases = ["small"]
[[checks]]
check = "shift"
points = 0
cases = ["small"]
offset = "offset"
teaches = "Only distance counts."
"""
_TURN = """
import torch
def turn(x, offset=0):
    angle = torch.arange(x.shape[0], dtype=x.dtype) + offset
    a, b = x.unbind(-1)
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)
"""


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        (_TURN, True),
        ("def turn(x, offset=0):\n    return x\n", False),  # the same wherever it stands
        (_TURN.replace(" + offset", " * (offset + 1)"), False),  # turns faster, the further it is
        (_TURN.replace(" + offset", ""), False),
    ],
    ids=["rotation", "identity", "faster", "no offset"],
)
def test_scores_depend_on_the_distance_alone(answer: str, holds: bool, tmp_path: Path) -> None:
    """The offsets of the two sides differ, so that leaving everything as it is does not pass."""
    report = grade_here(build(tmp_path, _TURN_TOML, _TURN), answer)

    assert _holding(report) == {"only the distance matters": holds}
