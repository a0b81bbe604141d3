"""Inputs of cases that random tensors do not cover."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

FAR = 10_000.0
COMMON = 1_000.0  # added to all elements of a gradient, which are drawn with a standard deviation of one
HUGE = 1e30  # still finite in float32
STEP = 2.0**-10  # distance between neighbouring float32 numbers at 10,000


def hide_some(case: Case, generator: torch.Generator) -> Case:
    """Set some scores to -inf, a different number in each row, and never a whole row."""
    x = _scores(case)
    hidden = torch.arange(x.shape[-1]) < torch.arange(x.shape[0])[:, None]  # row r hides r scores
    shuffled = torch.stack([row[torch.randperm(len(row), generator=generator)] for row in hidden])
    return _with_scores(case, x.masked_fill(shuffled, float("-inf")))


def rows_far_from_zero(case: Case, generator: torch.Generator) -> Case:
    """Shift the first row up and the second one down so far that their exponentials overflow and underflow; hide some.

    Within a row the scores stay close together, so that no weight is negligible. Subtracting one number from all rows
    cannot fix both of them. In the second row, -10,000 in place of -inf would be an ordinary score.

    All scores lie between two neighbouring float32 numbers, so in float32 the reference's own rounding error is as
    large as it can be here, around 1e-4. Code that takes the logarithm of the sum before the exponential may round as
    much.
    """
    x = _scores(case) + torch.tensor([FAR, -FAR, 0.0])[:, None]
    x = (x / STEP).round() * STEP
    x += 0.4 * STEP * torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    x[1, 3] = x[2, 1] = float("-inf")
    return _with_scores(case, x)


def scores_far_apart(case: Case, generator: torch.Generator) -> Case:
    """Spread the scores of each row over ±10,000, with two close ones at the top."""
    x = torch.empty_like(_scores(case)).uniform_(-FAR, 0.9 * FAR, generator=generator)
    x[:, 2] = FAR
    x[:, 4] = FAR - 1.0
    return _with_scores(case, x)


def telling_upstream(case: Case, generator: torch.Generator) -> Case:
    """Hide some scores, and pass back a gradient that is large where it must have no effect.

    A constant in a row's gradient has no effect, since the weights add up to one; nor has the gradient at a weight of
    zero. So a denominator that is slightly too large shows, and so does a weight that is not exactly zero.
    """
    case = hide_some(case, generator)
    hidden = torch.isinf(_scores(case))
    (grad_outputs,) = case.grad_outputs
    assert grad_outputs is not None
    return replace(case, grad_outputs=(torch.where(hidden, HUGE, grad_outputs + COMMON),))


def _scores(case: Case) -> Tensor:
    x = case.arguments["x"]
    assert isinstance(x, Tensor)
    return x.clone()


def _with_scores(case: Case, x: Tensor) -> Case:
    return replace(case, arguments={**case.arguments, "x": x})
