"""Code that asks for float32 by name: its mistake is named all the same, at the precision that the code has."""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade

_SOURCE = """
import math
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores.float(), dim=-1).to(query.dtype)
    return weights @ value, weights
"""
_SLIPS = {
    "no_scaling": (" / math.sqrt(key.shape[-1])", ""),
    "scaled_by_d_k": ("math.sqrt(key.shape[-1])", "key.shape[-1]"),
    "mask_inverted": ("~mask", "mask"),
    "softmax_over_queries": ("dim=-1)", "dim=-2)"),
}


@pytest.mark.parametrize("name", _SLIPS)
def test_a_mistake_beside_float32_by_name_is_named(name: str) -> None:
    """Rounded like float32, it is like no mistake in float64; and it is not certain."""
    source = _SOURCE.replace(*_SLIPS[name])

    report = grade(read_exercise(ROOT / "exercises" / "scaled_dot_product_attention"), source, seed=3, box=InlineBox())

    assert [(one.mistake, one.certain) for one in report.diagnosis] == [(name, False)]


def test_where_float32_changes_nothing_the_mistake_is_certain() -> None:
    """A name that is not used for numbers does not make them less exact."""
    source = _SOURCE.replace(".float()", "").replace(*_SLIPS["no_scaling"]) + "\nUNUSED = torch.float32\n"

    report = grade(read_exercise(ROOT / "exercises" / "scaled_dot_product_attention"), source, seed=3, box=InlineBox())

    assert [(one.mistake, one.certain) for one in report.diagnosis] == [("no_scaling", True)]
