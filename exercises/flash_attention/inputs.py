"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

outscored = cases.outscored
deepest_first = cases.deepest_first

STRENGTH = 100.0
STEP = 900.0  # from token to token; beyond 709, where the exponential overflows in float64

low_logits = cases.low_logits


def rising_logits(case: Case, generator: torch.Generator) -> Case:
    """Let the logits rise by `STEP` from key to key in every other head, and fall in the others.

    Where they rise, each tile has a new maximum, and sums that are not rescaled are too large; where they fall, taking
    the current tile's maximum instead of the largest so far makes the sums overflow.
    """
    query, key = _tensor(case, "query"), _tensor(case, "key")
    heads, time, dim = query.shape[-3:]
    direction = torch.tensor([1.0 if head % 2 == 0 else -1.0 for head in range(heads)], dtype=query.dtype)
    query[..., 0] = STRENGTH
    steps = torch.arange(time, dtype=query.dtype) * STEP * math.sqrt(dim) / STRENGTH
    key[..., 0] += direction[:, None] * steps
    return replace(case, arguments={**case.arguments, "query": query, "key": key})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
