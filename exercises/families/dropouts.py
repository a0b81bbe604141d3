"""Mistakes in dropout, mostly on attention weights.

The texts of the first few do not mention weights, so they fit any step `drop(x, dropout)`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="drop", dimension="numerics", common=True)
def drops_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Your dropout is still active in evaluation mode.

    After `model.eval()`, two calls must give the same output. `F.dropout` always drops unless you pass
    `training=self.training`; `nn.Dropout` handles this itself.
    """
    return torch.dropout(weights, dropout.p, True)


@mistake(replaces="drop", dimension="numerics", common=True)
def never_drops(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Nothing is dropped in training mode.

    If you created a dropout layer, check that you call it and use its result.
    """
    return weights


@mistake(replaces="drop", dimension="numerics", common=True)
def drops_without_rescaling(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You drop elements but do not scale up the rest.

    When a fraction p is dropped, by what factor must the others grow so that their sum stays the same on average?
    """
    return torch.dropout(weights, dropout.p, dropout.training) * (1 - dropout.p if dropout.training else 1)


@mistake(replaces="drop", dimension="numerics", common=True)
def keeps_what_it_should_drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You use p as the probability of keeping an element.

    p is the probability of dropping. With p = 0.3, three in ten elements become zero and seven stay. In your code it is
    the other way round.
    """
    return torch.dropout(weights, 1 - dropout.p, dropout.training)


@mistake(replaces="drop", dimension="numerics", common=True)
def scales_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You scale down in evaluation mode.

    That is the older variant, which drops without scaling in training. Here you scale up the kept elements in training,
    and evaluation mode changes nothing.
    """
    if dropout.training:
        return torch.dropout(weights, dropout.p, True) * (1 - dropout.p)
    return weights * (1 - dropout.p)


@mistake(replaces="drop", dimension="numerics")
def renormalises_after_dropout(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You renormalise the rows after the dropout.

    All kept weights must be scaled by the same factor, 1 / (1 - p). If you divide each row by its own sum, each row
    gets a different factor, and a row in which everything was dropped becomes NaN.
    """
    if not dropout.training:
        return weights
    left = torch.dropout(weights, dropout.p, True)
    return left / left.sum(dim=-1, keepdim=True)


@mistake(replaces="drop", dimension="numerics")
def drops_whole_rows(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You drop all weights of a query at once.

    A query then attends to nothing or to everything. Each weight must be dropped or kept independently: the random mask
    must have the shape of the attention weights, including the key axis.
    """
    return weights * torch.dropout(torch.ones_like(weights[..., :1]), dropout.p, dropout.training)


@mistake(replaces="drop", dimension="gradients")
def dropped_ones_learn(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """In training mode, your gradient ignores which elements were dropped.

    Your output is right, but the backward pass works as if there were no dropout. A dropped element does not affect the
    output, so its gradient must be 0; a kept one has the factor 1/(1 - p) in the backward pass too. Autograd does not
    see changes in `.data` or under `no_grad`.
    """
    return weights + (torch.dropout(weights, dropout.p, dropout.training) - weights).detach()


@mistake(replaces="gather", dimension="numerics")
def drops_the_output(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """You apply dropout to the output instead of the attention weights.

    Dropout must remove single connections, "position i attends to position j", before the weights are multiplied with
    the values.
    """
    return torch.dropout(weights @ values, self.dropout.p, self.training)


@mistake(replaces="gather", dimension="numerics")
def drops_the_values(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """You apply dropout to the values instead of the attention weights.

    A dropped element of a value is missing for every query. Dropout must remove single connections, "position i attends
    to position j".
    """
    return weights @ torch.dropout(values, self.dropout.p, self.training)


@mistake(replaces="gather", dimension="numerics")
def drops_twice(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """You apply dropout twice: to the attention weights and to the output.

    In this exercise dropout applies to the attention weights only. Look for a second call of the dropout.
    """
    kept = torch.dropout(weights, self.dropout.p, self.training)
    return torch.dropout(kept @ values, self.dropout.p, self.training)
