"""What cuts the graph: the output is right, and something can never learn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.exercise.families.projections import Projections, through
from grader.exercise.mistakes import mistake


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your weights.

    The output is right, but queries and keys can never learn where to look. Search for `detach()`, `.data`, `.item()`,
    `no_grad` or a `torch.tensor(...)` round something that was computed, between the scores and the last product.
    """
    return weights.detach() @ values


@mistake(replaces="mix", dimension="gradients")
def values_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your values.

    The output is right, but what makes the values never learns. Look for `detach()`, `.data`, `no_grad` or a new tensor
    where the values are made or used.
    """
    return weights @ values.detach()


@mistake(replaces="scores_of", dimension="gradients")
def keys_cut_off(queries: Tensor, keys: Tensor) -> Tensor:
    """No gradient flows back through your keys.

    The output is right, but what makes the keys never learns. Look for `detach()`, `.data`, `no_grad` or a new tensor
    where the keys are made or used.
    """
    return queries @ keys.detach().transpose(-2, -1)


@mistake(replaces="scores_of", dimension="gradients")
def queries_cut_off(queries: Tensor, keys: Tensor) -> Tensor:
    """No gradient flows back through your queries.

    The output is right, but what makes the queries never learns. Look for `detach()`, `.data`, `no_grad` or a new
    tensor where the queries are made or used.
    """
    return queries.detach() @ keys.transpose(-2, -1)


@mistake(replaces="mix", dimension="gradients")
def everything_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """Your output is cut off from everything that it was made of.

    The numbers are right, but no gradient reaches anything. Look for `detach()`, `.data`, `.numpy()`, `no_grad` or a
    `torch.tensor(...)` round the result.
    """
    return (weights @ values).detach()


@mistake(replaces="normalise", dimension="gradients")
def sum_cut_off(scores: Tensor) -> Tensor:
    """The denominator of your softmax is cut off from the scores.

    The weights are right, but their gradient is as if the sum were a constant. Raising one score lowers the other
    weights, and that happens through the sum alone: it must stay in the graph. (Only the number that you subtract may
    be detached; its gradient cancels.)
    """
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    return powers / powers.sum(dim=-1, keepdim=True).detach()


@mistake(replaces="project", dimension="gradients")
def input_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back to your input.

    Your own weights learn, but nothing that comes before this module can. Look for `detach()`, `.data` or a
    `torch.tensor(x)` at the start of `forward`.
    """
    x = x.detach()
    return through(self.W_query, x), through(self.W_key, x), through(self.W_value, x)
