"""What students get wrong in self-attention with linear layers."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.exercise.mistakes import mistake

Projections = tuple[Tensor, Tensor, Tensor]


@mistake(replaces="SelfAttention.project", dimension="numerics")
def biases_ignored(self: Any, x: Tensor) -> Projections:
    """Your biases have no effect.

    With `qkv_bias=True` the projections add a bias, and yours do not. If you multiply with `layer.weight` yourself,
    the bias stays out; calling the layer does both.
    """
    return F.linear(x, self.W_query.weight), F.linear(x, self.W_key.weight), F.linear(x, self.W_value.weight)


@mistake(replaces="SelfAttention.project", dimension="numerics")
def value_bias_ignored(self: Any, x: Tensor) -> Projections:
    """The bias of W_value has no effect.

    `qkv_bias` counts for all three projections. Compare the line that makes the values with the other two.
    """
    return self.W_query(x), self.W_key(x), F.linear(x, self.W_value.weight)


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by √d_k.

    Your output is what attention gives when the plain dot products go into the softmax. The wider the keys, the
    larger those products. Look at the line between the product of queries and keys and the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics")
def scaled_by_d_k(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by d_k, not by its square root.

    Your weights come out too flat. Either the square root is missing, or you scale twice: once in the queries or
    keys, and once more in the scores.
    """
    return scores / d_k


@mistake(replaces="scale", dimension="numerics")
def multiplied_by_the_root(scores: Tensor, d_k: int) -> Tensor:
    """You multiply the scores by √d_k where they are to be divided by it.

    Your weights are sharper than they should be. Check the sign of your exponent and the operator before it.
    """
    return scores * math.sqrt(d_k)


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_by_the_input_width(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by √d_in.

    A score is a dot product of two vectors with d_out entries each, so it is d_out that makes it grow. Mind that the
    weight of a linear layer is stored as (out, in): its last axis is not the width of a key.
    """
    scores = queries @ keys.T / math.sqrt(self.W_key.weight.shape[-1])
    return torch.softmax(scores, dim=-1)


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_length(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of tokens.

    Look at the size that you put under the root: it is the sequence length. What counts is the width of a key.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by √d_k after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs to
    the scores, before they become weights.
    """
    return torch.softmax(queries @ keys.T, dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Each query shares *its* attention out over the
    keys. Look at the `dim` of your softmax: which axis of the scores counts the keys?
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def no_softmax(scores: Tensor) -> Tensor:
    """You mix the values with the scaled scores themselves.

    The softmax is missing: your weights may be negative, and a row of them adds up to anything.
    """
    return scores


@mistake(replaces="normalise", dimension="numerics")
def log_softmax_for_softmax(scores: Tensor) -> Tensor:
    """Your weights are logarithms.

    You use a log-softmax, whose entries are all negative. A weight is a share between zero and one.
    """
    return torch.log_softmax(scores, dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def overflowing_softmax(scores: Tensor) -> Tensor:
    """Your softmax overflows when the scores are large.

    The exponential of a score in the hundreds is too large for a floating-point number, and infinity divided by
    infinity is NaN. A softmax does not change when the same number is taken off all scores of a row: which number
    keeps every exponential at one or below?
    """
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="scores_of", dimension="numerics")
def queries_meet_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """You score queries against queries.

    Your keys have no say in the scores, so W_key gets no gradient either. Look at both sides of the product, and at
    the layer that your keys come from.
    """
    return queries @ queries.T


@mistake(replaces="scores_of", dimension="numerics")
def keys_ask_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """Your table of scores lies on its side.

    In row i you have the scores of key i with every query. The softmax runs along a row, so row i has to be what
    *query* i thinks of every key. Look at the order of the two factors, and at which of them is transposed.
    """
    return keys @ queries.T


@mistake(replaces="mix", dimension="numerics")
def weights_transposed(weights: Tensor, values: Tensor) -> Tensor:
    """You mix the values with the transposed weights.

    Output i has to use row i of the weights. Yours uses column i, which says how much the others attend to token i.
    """
    return weights.T @ values


@mistake(replaces="SelfAttention.project", dimension="numerics")
def mixes_the_keys(self: Any, x: Tensor) -> Projections:
    """You mix the keys instead of the values.

    The weights are right; what they are multiplied with is not. Look at the last product.
    """
    keys = self.W_key(x)
    return self.W_query(x), keys, keys


@mistake(replaces="SelfAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """W_key and W_value have changed places.

    You compare the queries with what W_value gives, and mix what W_key gives. Follow each of the two from its layer
    to the place where it is used; if you unpack or chunk several at once, check the order.
    """
    return self.W_query(x), self.W_value(x), self.W_key(x)


@mistake(replaces="SelfAttention.project", dimension="shapes")
def mixes_the_inputs(self: Any, x: Tensor) -> Projections:
    """You mix the inputs instead of the values.

    Your output is as wide as x, because your last product takes x itself. It has to take x after W_value.
    """
    return self.W_query(x), self.W_key(x), x


@mistake(replaces="mix", dimension="shapes")
def adds_a_batch_axis(weights: Tensor, values: Tensor) -> Tensor:
    """You return a batch of one.

    In this exercise x is one sequence, (T, d_in), and so is what you return: (T, d_out). Look for an `unsqueeze`, a
    `view` or a `[None]` that puts an axis in front.
    """
    return (weights @ values).unsqueeze(0)


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your weights.

    The output is right, but W_query and W_key can never learn. Look for `detach()`, `.data`, `.item()`, `no_grad` or
    a `torch.tensor(...)` round something that was computed, between the scores and the last product.
    """
    return weights.detach() @ values


@mistake(replaces="SelfAttention.project", dimension="gradients")
def input_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back to your input.

    Your own layers learn, but nothing that comes before this module can. Look for `detach()`, `.data` or a
    `torch.tensor(x)` at the start of `forward`.
    """
    x = x.detach()
    return self.W_query(x), self.W_key(x), self.W_value(x)


@mistake(replaces="SelfAttention.project", dimension="gradients")
def values_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back through your values.

    The output is right, but W_value never learns. Look for `detach()`, `.data` or `no_grad` where the values are made
    or used.
    """
    return self.W_query(x), self.W_key(x), self.W_value(x).detach()
