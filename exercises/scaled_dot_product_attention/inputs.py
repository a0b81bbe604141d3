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

LOW = -150_000.0
COMMON = 1_000.0  # added to all values, which are drawn around zero with a standard deviation of one
FAINT = 60.0  # below the others of its row; float32 can represent e^-60 and its inverse


def low_logits(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit, through one coordinate that all queries and all keys have in common.

    This changes no weight, but a hidden score that was filled with -100,000 is now the largest of its row. One filled
    with -1e9 still gets no weight. The batch rows swap their padding masks: another case has the same masks in the same
    shape, and code that keeps those from one call to the next is then wrong.
    """
    case = cases.lowered(case, LOW)
    return replace(case, arguments={**case.arguments, "mask": _tensor(case, "mask").flip(0)})


def common_values(case: Case, generator: torch.Generator) -> Case:
    """Add a large constant to all values, which reaches the output unchanged where each row of weights adds up to one.

    The gradients of queries and keys do not depend on that constant. Where a row adds up to slightly less than one,
    they are wrong, by `COMMON` times as much as without it.
    """
    return replace(case, arguments={**case.arguments, "value": _tensor(case, "value") + COMMON})


def faint_key(case: Case, generator: torch.Generator) -> Case:
    """Put the second key's scores `FAINT` below the others, and make its values so large that they still count.

    This shows an exponential that is clamped above such a small number.
    """
    query, key, value = (_tensor(case, name) for name in ("query", "key", "value"))
    query[..., 0], key[..., 0] = 1.0, 0.0
    key[..., 1, 0] = -FAINT * math.sqrt(query.shape[-1])
    value[..., 1, :] *= math.exp(FAINT)
    return replace(case, arguments={**case.arguments, "query": query, "key": key, "value": value})


def blank_row(case: Case, generator: torch.Generator) -> Case:
    """Hide every key from the second query; the exercise does not say what its output is."""
    mask = _tensor(case, "mask")
    mask[..., 1, :] = False
    return replace(case, arguments={**case.arguments, "mask": mask})


def mask_of_zeros_and_ones(case: Case, generator: torch.Generator) -> Case:
    """Write the mask as 0 and 1, int64, as many tutorials do; `mask == 0` works for both forms."""
    return replace(case, arguments={**case.arguments, "mask": _tensor(case, "mask").long()})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
