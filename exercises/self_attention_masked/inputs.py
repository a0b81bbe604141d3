"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

sunken_scores = cases.sunken_scores
deepest_first = cases.deepest_first
outscored = cases.outscored
zero_scores = cases.zero_scores


def scattered_mask(case: Case, generator: torch.Generator) -> Case:
    """Hide about half of the cells at random; every row and every column keeps at least one cell.

    Neither the mask nor its transpose is a triangle then, and many tokens may not see themselves.
    """
    mask = torch.rand(_mask(case).shape, generator=generator) < 0.5
    time = mask.shape[-1]
    for table in mask:
        table[torch.arange(time), torch.randperm(time, generator=generator)] = True
    return _with_mask(case, mask)


def mask_of_whole_numbers(case: Case, generator: torch.Generator) -> Case:
    """Write the mask as 0 and 1, int64."""
    return _with_mask(case, _mask(case).long())


def mask_of_floats(case: Case, generator: torch.Generator) -> Case:
    """Write the mask as 0.0 and 1.0."""
    return _with_mask(case, _mask(case).double())


def blank_row(case: Case, generator: torch.Generator) -> Case:
    """Hide every token from the second one; the exercise does not say what its output is."""
    mask = _mask(case)
    mask[..., 1, :] = False
    return _with_mask(case, mask)


def _mask(case: Case) -> Tensor:
    mask = case.arguments["mask"]
    assert isinstance(mask, Tensor)
    return mask.clone()


def _with_mask(case: Case, mask: Tensor) -> Case:
    return replace(case, arguments={**case.arguments, "mask": mask})
