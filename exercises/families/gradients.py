"""Mistakes that detach a part of the graph: the output is right, but some parameters never learn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.exercise.families.projections import Projections, through
from grader.exercise.mistakes import mistake


@mistake(replaces="mix", dimension="gradients", common=True)
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your attention weights.

    No output shows it, but queries and keys can never learn where to attend. Look for `detach()`, `.data`, `.item()`,
    `no_grad` or `torch.tensor(...)` around a computed tensor, between the scores and the last product.
    """
    return weights.detach() @ values


@mistake(replaces="mix", dimension="gradients", common=True)
def values_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your values.

    No output shows it, but the parameters that produce the values never learn. Look for `detach()`, `.data`, `no_grad`
    or a new tensor where you compute or use the values.
    """
    return weights @ values.detach()


@mistake(replaces="scores_of", dimension="gradients", common=True)
def keys_cut_off(queries: Tensor, keys: Tensor) -> Tensor:
    """No gradient flows back through your keys.

    No output shows it, but the parameters that produce the keys never learn. Look for `detach()`, `.data`, `no_grad`
    or a new tensor where you compute or use the keys.
    """
    return queries @ keys.detach().transpose(-2, -1)


@mistake(replaces="scores_of", dimension="gradients", common=True)
def queries_cut_off(queries: Tensor, keys: Tensor) -> Tensor:
    """No gradient flows back through your queries.

    No output shows it, but the parameters that produce the queries never learn. Look for `detach()`, `.data`,
    `no_grad` or a new tensor where you compute or use the queries.
    """
    return queries.detach() @ keys.transpose(-2, -1)


@mistake(replaces="mix", dimension="gradients", common=True)
def everything_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """Your output is detached from the computation graph.

    The values are right, but no gradient reaches any input or parameter. Look for `detach()`, `.data`, `.numpy()`,
    `no_grad` or `torch.tensor(...)` around the result.
    """
    return (weights @ values).detach()


@mistake(replaces="normalise", dimension="gradients", common=True)
def sum_cut_off(scores: Tensor) -> Tensor:
    """The denominator of your softmax is detached from the scores.

    The weights are right, but their gradient treats the sum as a constant. Raising one score lowers the other weights,
    and that effect goes through the sum, so the sum must stay in the graph. (You may detach the number that you
    subtract from the scores; its gradient cancels.)
    """
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    return powers / powers.sum(dim=-1, keepdim=True).detach()


@mistake(replaces="project", dimension="gradients")
def input_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back to your input.

    The parameters of your module learn, but nothing before this module can. Look for `detach()`, `.data` or
    `torch.tensor(x)` at the start of `forward`.
    """
    x = x.detach()
    return through(self.W_query, x), through(self.W_key, x), through(self.W_value, x)
