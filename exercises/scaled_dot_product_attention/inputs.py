"""Inputs with a purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

outscored = cases.outscored

LOW = -150_000.0
COMMON = 1_000.0  # what all values have in common, beside drawn numbers around one
FAINT = 60.0  # below the others of its row; e^-60 and its inverse both exist in float32


def low_logits(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit, through one coordinate that all queries and all keys have in common.

    No weight changes by that, but a hidden score that was filled with -100,000 is now the largest of its row. One
    filled with -1e9 still gets no weight. The batch rows change their padding masks: another case has the same ones in
    the same shape, and code that kept those must show it.
    """
    case = cases.lowered(case, LOW)
    return replace(case, arguments={**case.arguments, "mask": _tensor(case, "mask").flip(0)})


def common_values(case: Case, generator: torch.Generator) -> Case:
    """Give all values a large part in common, which rows of weights that add up to one pass on as it is.

    How the weights depend on the scores has nothing to do with that part. Where a row adds up to a hair less than one,
    the gradients of queries and keys show it, `COMMON` times as large.
    """
    return replace(case, arguments={**case.arguments, "value": _tensor(case, "value") + COMMON})


def faint_key(case: Case, generator: torch.Generator) -> Case:
    """Put the second key's scores `FAINT` below the others, and make its values so large that they count all the same.

    An exponential that is not allowed to fall that low then shows.
    """
    query, key, value = (_tensor(case, name) for name in ("query", "key", "value"))
    query[..., 0], key[..., 0] = 1.0, 0.0
    key[..., 1, 0] = -FAINT * math.sqrt(query.shape[-1])
    value[..., 1, :] *= math.exp(FAINT)
    return replace(case, arguments={**case.arguments, "query": query, "key": key, "value": value})


def blank_row(case: Case, generator: torch.Generator) -> Case:
    """Hide every key from the second query: what comes out there is nowhere agreed on."""
    mask = _tensor(case, "mask")
    mask[..., 1, :] = False
    return replace(case, arguments={**case.arguments, "mask": mask})


def mask_of_zeros_and_ones(case: Case, generator: torch.Generator) -> Case:
    """Write the mask as 0 and 1, int64, as many tutorials do; `mask == 0` understands both forms."""
    return replace(case, arguments={**case.arguments, "mask": _tensor(case, "mask").long()})


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
