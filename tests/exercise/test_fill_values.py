"""How low a number must be to stand for -inf: the same in every exercise that hides keys."""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.grade import decide

INFINITE = 'float("-inf")'
HIDING = [
    exercise
    for exercise in Catalog.load().values()
    if any(case.make == "deepest_first" for case in exercise.spec.cases)
]


def filled(exercise: Exercise, number: str) -> float:
    """Return the score of the reference with another number in the place of -inf."""
    text = exercise.reference_path.read_text(encoding="utf-8")
    assert INFINITE in text
    report, _ = decide(exercise, text.replace(INFINITE, number), seed=3, box=InlineBox())
    return report.score


@pytest.mark.parametrize("exercise", HIDING, ids=lambda one: one.id)
def test_a_number_that_scores_can_fall_below_costs_points(exercise: Exercise) -> None:
    """-1e7 would pass if no case had scores near -30 million."""
    assert 0 < filled(exercise, "-1e7") < 100


@pytest.mark.parametrize("exercise", HIDING, ids=lambda one: one.id)
def test_minus_a_billion_is_accepted(exercise: Exercise) -> None:
    """It is what much published code fills with, and no score of a model is as low."""
    assert filled(exercise, "-1e9") == 100
