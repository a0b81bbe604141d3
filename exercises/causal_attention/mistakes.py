"""What students get wrong in causal attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by √d_k.

    Your output is what attention gives when the plain dot products go into the softmax. The wider the keys, the
    larger those products, and the softmax then picks one position almost alone. Look at the line between the
    product of queries and keys and the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics")
def scaled_by_d_k(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by d_k, not by its square root.

    Your weights come out too flat. The scores' standard deviation grows with √d_k, so that is what to divide by.
    """
    return scores / d_k


@mistake(replaces="hide_future", dimension="masking")
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position sees exactly one position of its future. Check the diagonal from which your triangle starts: the
    first hidden cell of row i is the one in column i + 1.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2), float("-inf"))


@mistake(replaces="drop", dimension="numerics")
def drops_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Your dropout is still on in evaluation mode.

    After `model.eval()` two calls must give the same output. The functional form drops always unless you hand it
    `training=self.training`; the module form looks after that itself.
    """
    return torch.dropout(weights, dropout.p, True)
