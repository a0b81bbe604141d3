"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case, normal

symmetric_weights = cases.symmetric_weights

LOUD = 1000.0  # beyond ±709 the exponential leaves the range of float64


def loud_scores(case: Case, generator: torch.Generator) -> Case:
    """Choose encoder outputs whose scores lie far above zero in the first sentence, and far below in the second.

    The component of the outputs along W s, the direction that the state asks for, sets the scores; the rest is random.
    """
    form = next(weight for weight in case.weights if weight.name == "W").matrix  # (encoder_dim, decoder_dim)
    outputs, state = case.arguments["encoder_outputs"], case.arguments["decoder_hidden"]
    assert isinstance(outputs, Tensor)
    assert isinstance(state, Tensor)
    asked = (state @ form.T).unsqueeze(1)  # (B, 1, encoder_dim)
    along = asked / asked.square().sum(dim=-1, keepdim=True)
    across = outputs - (outputs * asked).sum(dim=-1, keepdim=True) * along
    sign = torch.ones(len(outputs), 1, 1, dtype=outputs.dtype)
    sign[1] = -1.0
    scores = sign * LOUD * (1 + normal((*outputs.shape[:2], 1), generator).abs())
    return replace(case, arguments={**case.arguments, "encoder_outputs": across + scores * along})
