"""Layers that learn their input widths from the first call, in a model that is trained around a submission."""

from __future__ import annotations

import pytest
import torch

from grader.box.inline import InlineBox
from grader.box.observations import LOSSES, Observations
from grader.box.plan import Plan
from grader.box.run import Limits
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.sheet import draw_up

_SOURCE = """
import torch
from torch import nn

def scaled_dot_product_attention(query, key, value, mask=None):
    raise NotImplementedError

class AdditiveAttention(nn.Module):
    pass

class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        self.W = nn.LazyLinear(decoder_dim, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        print("asked")
        weights = torch.softmax((self.W(encoder_outputs) @ decoder_hidden.unsqueeze(-1)).squeeze(-1), dim=-1)
        return (weights.unsqueeze(1) @ encoder_outputs).squeeze(1), weights
"""
_STEPS = 10

pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")


def _plan() -> Plan:
    """Return a plan of nothing but the first steps with multiplicative attention."""
    plan = draw_up(read_exercise(ROOT / "exercises" / "compare_variants"), 3).plan
    return plan.only(frozenset({f"train_multiplicative/steps 1 to {_STEPS}"}))


def _trained(layer: str) -> Observations:
    source = _SOURCE.replace("LazyLinear(", layer)
    return InlineBox().run(_plan(), source, Limits()).observations


def test_a_lazy_layer_is_trained_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """It gets its shape before the first step, which begins with the contract's weights; and it prints once."""
    lazy, heard = _trained("LazyLinear("), capsys.readouterr().out
    usual = _trained("Linear(encoder_dim, ")

    ours, theirs = (next(iter(seen.calls.values())).slots[LOSSES].tensor for seen in (lazy, usual))
    assert ours is not None
    assert theirs is not None
    assert ours.shape == (_STEPS,)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert heard == "asked\n"
