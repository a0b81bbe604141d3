"""Panels beside the verdict: half precision, and a row that sees nothing. They advise and cost nothing."""

from __future__ import annotations

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.grade import grade

ATTENTION = """
import math
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, FILL)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
"""


def _advice(fill: str) -> tuple[float, str]:
    report = grade(_exercise(), ATTENTION.replace("FILL", fill), seed=4, box=InlineBox())
    return report.score, "\n".join(report.advice)


def _exercise() -> Exercise:
    return read_exercise(ROOT / "exercises" / "scaled_dot_product_attention")


def test_a_fill_that_half_precision_cannot_hold_is_advised_against_for_free() -> None:
    """-1e9 is right in float64; in float16 it overflows, and the advice says what does not."""
    score, advice = _advice("-1e9")

    assert score == 100
    assert "half precision" in advice
    assert 'use float("-inf") or torch.finfo(dtype).min' in advice


def test_minus_infinity_is_fine_in_half_precision_but_not_on_a_row_that_sees_nothing() -> None:
    """-inf gives NaN where a query may see nothing; that is said, and costs nothing."""
    score, advice = _advice('float("-inf")')

    assert score == 100
    assert "half precision" not in advice
    assert "a query with all keys masked: finite everywhere: `output` is NaN" in advice


def test_a_fill_with_the_smallest_number_draws_no_advice() -> None:
    """finfo.min fits every dtype and gives no NaN."""
    score, advice = _advice("torch.finfo(scores.dtype).min")

    assert score == 100
    assert "half precision" not in advice
    assert "NaN" not in advice
