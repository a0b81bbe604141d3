"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

outscored = cases.outscored

STRENGTH = 100.0
STEP = 900.0  # from token to token; past the range of the exponential in float64, which ends at 709

low_logits = cases.low_logits


def rising_logits(case: Case, generator: torch.Generator) -> Case:
    """Let every other head's logits rise by `STEP` from key to key, and the others' fall.

    Where they rise, each tile has a new peak, and sums that were not shrunk are too large; where they fall, a peak that
    follows the tiles downwards makes the sums overflow.
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
