"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.families import cases
from grader.exercise.inputs import Case

FAR = 120_000.0  # after scaling; beyond the exponential's range, and beyond fill values of -65504 and -100000


def rows_far_from_zero(case: Case, generator: torch.Generator) -> Case:
    """Raise every second row by `FAR` and lower the others, which changes no weight: a softmax is taken row by row.

    Within a row the scores stay close together, so that no weight is negligible.
    """
    scores, d_k = case.arguments["scores"], case.arguments["d_k"]
    assert isinstance(scores, Tensor)
    assert isinstance(d_k, int)
    sign = torch.where(torch.arange(scores.shape[-2]) % 2 == 0, 1.0, -1.0)
    far = scores + FAR * math.sqrt(d_k) * sign[:, None]
    return replace(case, arguments={**case.arguments, "scores": far})


def far_apart(case: Case, generator: torch.Generator) -> Case:
    """Let the second key score far above the others, the third half of that, and the first as much below.

    The first query scores all keys alike, so that no hidden key outscores the visible ones.
    """
    scores, d_k = case.arguments["scores"], case.arguments["d_k"]
    assert isinstance(scores, Tensor)
    assert isinstance(d_k, int)
    apart = scores.clone()
    apart[..., 1:, :3] += cases.APART * math.sqrt(d_k) * torch.tensor([-1.0, 1.0, 0.5], dtype=torch.float64)
    return replace(case, arguments={**case.arguments, "scores": apart})


def deepest_first(case: Case, generator: torch.Generator) -> Case:
    """Put the scores of the first row at `cases.DEEPEST`: its only visible weight is one, whatever rounding does."""
    scores, d_k = case.arguments["scores"], case.arguments["d_k"]
    assert isinstance(scores, Tensor)
    assert isinstance(d_k, int)
    deep = scores.clone()
    deep[..., 0, :] = -cases.DEEPEST * math.sqrt(d_k)
    return replace(case, arguments={**case.arguments, "scores": deep})


def outscored(case: Case, generator: torch.Generator) -> Case:
    """Let all scores of the future lie far above those that count."""
    scores, d_k = case.arguments["scores"], case.arguments["d_k"]
    assert isinstance(scores, Tensor)
    assert isinstance(d_k, int)
    raised = scores + cases.LOUD * math.sqrt(d_k) * torch.ones_like(scores).triu(diagonal=1)
    return replace(case, arguments={**case.arguments, "scores": raised})
