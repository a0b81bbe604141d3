"""What goes wrong with dropout, on attention weights for the most part.

The first few say nothing of weights, and serve wherever something is dropped: `drop(x, dropout)`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="drop", dimension="numerics")
def drops_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Your dropout is still on in evaluation mode.

    After `model.eval()` two calls must give the same output. The functional form drops always unless you hand it
    `training=self.training`; the module form looks after that itself.
    """
    return torch.dropout(weights, dropout.p, True)


@mistake(replaces="drop", dimension="numerics")
def never_drops(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You never drop anything, not even in training mode.

    If you made a dropout layer, it may never be called, or its result may be thrown away.
    """
    return weights


@mistake(replaces="drop", dimension="numerics")
def drops_without_rescaling(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You drop, but do not scale up what stays.

    With a share p dropped, by what factor do the others have to grow for their sum to stay the same on average?
    """
    return torch.dropout(weights, dropout.p, dropout.training) * (1 - dropout.p if dropout.training else 1)


@mistake(replaces="drop", dimension="numerics")
def keeps_what_it_should_drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You take the probability of dropping for that of keeping.

    With a probability of 0.3, three in ten disappear and seven stay. In yours it is the other way round.
    """
    return torch.dropout(weights, 1 - dropout.p, dropout.training)


@mistake(replaces="drop", dimension="numerics")
def scales_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You scale down in evaluation mode.

    That is the older way, in which training drops and does not scale up. Here training scales up what stays, and in
    evaluation mode nothing changes.
    """
    if dropout.training:
        return torch.dropout(weights, dropout.p, True) * (1 - dropout.p)
    return weights * (1 - dropout.p)


@mistake(replaces="drop", dimension="numerics")
def renormalises_after_dropout(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You make the rows add up to one again after the dropout.

    Those that stay are scaled up by one number, 1 / (1 - p), the same everywhere. Divided by its own sum, each row
    gets a factor of its own, and a row that lost everything is NaN.
    """
    if not dropout.training:
        return weights
    left = torch.dropout(weights, dropout.p, True)
    return left / left.sum(dim=-1, keepdim=True)


@mistake(replaces="drop", dimension="numerics")
def drops_whole_rows(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You drop all weights of a query at once.

    A query then sees nothing, or everything. Each weight is dropped or kept by itself: the mask that you draw needs the
    shape of the weights, keys included.
    """
    return weights * torch.dropout(torch.ones_like(weights[..., :1]), dropout.p, dropout.training)


@mistake(replaces="gather", dimension="numerics")
def drops_the_output(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """Your dropout falls on the output, not on the weights.

    What is to be dropped is whole connections, "position i looks at position j", before the values are mixed.
    """
    return torch.dropout(weights @ values, self.dropout.p, self.training)


@mistake(replaces="gather", dimension="numerics")
def drops_the_values(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """Your dropout falls on the values, not on the weights.

    An element of a value that is dropped is missing for every query. What is to be dropped is single connections,
    "position i looks at position j".
    """
    return weights @ torch.dropout(values, self.dropout.p, self.training)


@mistake(replaces="gather", dimension="numerics")
def drops_twice(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """You drop twice: the weights, and the output once more.

    The weights alone are dropped in this exercise. Look for a second call of the dropout.
    """
    kept = torch.dropout(weights, self.dropout.p, self.training)
    return torch.dropout(kept @ values, self.dropout.p, self.training)
