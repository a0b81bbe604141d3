"""What a report says of weights that were not found by their names alone."""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.placing import UNTOLD

_UNSCALED = """
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        return torch.softmax((x @ self.W_query) @ (x @ self.W_key).T, dim=-1) @ (x @ self.W_value)
"""


@pytest.mark.parametrize(("names", "told"), [("W_query W_key W_value", True), ("asks fits carries", False)])
def test_the_names_are_blamed_only_where_they_say_nothing(names: str, told: bool) -> None:
    """A wrong answer whose weights have the contract's names is not told that they say nothing."""
    source = _UNSCALED
    for old, new in zip(("W_query", "W_key", "W_value"), names.split(), strict=True):
        source = source.replace(f"self.{old}", f"self.{new}")

    report = grade(read_exercise(ROOT / "exercises" / "self_attention_parameters"), source, seed=3, box=InlineBox())

    assert report.score < 100
    assert (UNTOLD not in report.advice) is told
