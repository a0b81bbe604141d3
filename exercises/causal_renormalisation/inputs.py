"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

FAINT = 1e-6  # visible weights relative to hidden ones; far above rounding, and above an epsilon in the denominator


def faint_past(case: Case, generator: torch.Generator) -> Case:
    """Leave each row about a millionth of its weight on visible positions: an epsilon added to the sum then shows."""
    weights = _weights(case)
    shifted = torch.where(torch.ones_like(weights).tril() == 1, weights * FAINT, weights)
    return _shared_out(case, shifted)


def some_zeros(case: Case, generator: torch.Generator) -> Case:
    """Set one weight in three to zero, never a position's own: a zero in the past must stay zero and cause no NaN."""
    weights = _weights(case)
    gone = torch.rand(weights.shape, generator=generator, dtype=weights.dtype) < 1 / 3
    return _shared_out(case, weights.masked_fill(gone & (torch.eye(weights.shape[-1]) == 0), 0.0))


def _weights(case: Case) -> Tensor:
    weights = case.arguments["weights"]
    assert isinstance(weights, Tensor)
    return weights


def _shared_out(case: Case, weights: Tensor) -> Case:
    return replace(case, arguments={"weights": weights / weights.sum(dim=-1, keepdim=True)})
