"""Inputs with a purpose."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

FAR = 10_000.0
COMMON = 1_000.0  # what all elements of a gradient have in common, beside drawn numbers around one
HUGE = 1e30  # and still a number in float32
STEP = 2.0**-10  # between neighbours in float32 at 10,000


def hide_some(case: Case, generator: torch.Generator) -> Case:
    """Set some scores to -inf, another number of them in each row, and never a whole row."""
    x = _scores(case)
    hidden = torch.arange(x.shape[-1]) < torch.arange(x.shape[0])[:, None]  # row r hides r scores
    shuffled = torch.stack([row[torch.randperm(len(row), generator=generator)] for row in hidden])
    return _with_scores(case, x.masked_fill(shuffled, float("-inf")))


def rows_far_from_zero(case: Case, generator: torch.Generator) -> Case:
    """Move the first row up and the second one down so far that e to their power has no number; hide some scores.

    Within a row the scores stay close together, so that every weight can be seen. A number that is subtracted from
    all rows alike cannot serve both of them. In the second row a -10,000 in place of -inf would be an ordinary score.

    All scores lie between two neighbours of float32, so there the reference's own rounding is what it can be here,
    around 1e-4. Who takes the logarithm of the sum before the exponential may round as much as that.
    """
    x = _scores(case) + torch.tensor([FAR, -FAR, 0.0])[:, None]
    x = (x / STEP).round() * STEP
    x += 0.4 * STEP * torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    x[1, 3] = x[2, 1] = float("-inf")
    return _with_scores(case, x)


def scores_far_apart(case: Case, generator: torch.Generator) -> Case:
    """Spread the scores of each row over ±10,000, with two that compete at the top."""
    x = torch.empty_like(_scores(case)).uniform_(-FAR, 0.9 * FAR, generator=generator)
    x[:, 2] = FAR
    x[:, 4] = FAR - 1.0
    return _with_scores(case, x)


def telling_upstream(case: Case, generator: torch.Generator) -> Case:
    """Hide some scores, and send back a gradient that is large where it must not matter.

    What all elements of a row's gradient have in common has no effect, since the weights add up to one; nor has what
    arrives at a weight of zero. A denominator that is a little too large, and a weight that is not quite zero, show.
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
