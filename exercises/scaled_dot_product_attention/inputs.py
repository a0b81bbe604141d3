"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

LOW = -20_000.0
STRENGTH = 100.0


def low_logits(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit, through one coordinate that all queries and all keys have in common.

    No weight changes by that, but a hidden score that was filled with -10,000 is now the largest of its row. One
    filled with -1e9 still gets no weight. The batch rows change their padding masks: another case has the same ones in
    the same shape, and code that kept those must show it.
    """
    query, key = _tensor(case, "query"), _tensor(case, "key")
    query[..., 0] = STRENGTH
    key[..., 0] = LOW * math.sqrt(query.shape[-1]) / STRENGTH
    return replace(
        case, arguments={**case.arguments, "query": query, "key": key, "mask": _tensor(case, "mask").flip(0)}
    )


def blank_row(case: Case, generator: torch.Generator) -> Case:
    """Hide every key from the second query: what comes out there is nowhere agreed on."""
    mask = _tensor(case, "mask")
    mask[..., 1, :] = False
    return replace(case, arguments={**case.arguments, "mask": mask})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
