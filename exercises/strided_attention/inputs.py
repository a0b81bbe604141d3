"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

LOW = -20_000.0
STRENGTH = 100.0


def low_logits(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit of head 0, twice that in head 1, and so on, through one coordinate of queries and keys.

    No weight changes by that, but a hidden score that was filled with -10,000 is now the largest of its row, and an
    exponential without a shift, or with one for all heads, is zero. A fill of -1e9 still gets no weight.
    """
    query, key = _tensor(case, "query"), _tensor(case, "key")
    level = LOW * (1 + torch.arange(query.shape[1], dtype=query.dtype))[:, None]  # (heads, 1)
    query[..., 0] = STRENGTH
    key[..., 0] = level * math.sqrt(query.shape[-1]) / STRENGTH
    return replace(case, arguments={**case.arguments, "query": query, "key": key})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()


def outscored(case: Case, generator: torch.Generator) -> Case:
    """Let a key that most queries must not see score far above all others."""
    stride = case.arguments["stride"]
    assert isinstance(stride, int)
    columns = torch.arange(_tensor(case, "key").shape[-2])
    rows = columns[:, None]
    return cases.outscored_where_hidden(
        case, (columns <= rows) & ((rows - columns < stride) | ((rows - columns) % stride == 0))
    )
