"""What students get wrong in causal self-attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores)

from_weights = take(
    weights,
    except_=(
        "no_softmax",
        "sigmoid_for_softmax",
        "log_softmax_for_softmax",
        "scores_clamped",
        "first_sequence_for_all",
    ),
)
weights_transposed = borrow(weights.weights_transposed, dimension="masking")

from_causal = take(causal)
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="CausalSelfAttention.weigh")
scaled_after_the_softmax = borrow(causal.scaled_after_the_softmax, replaces="CausalSelfAttention.weigh")

from_dropouts = take(dropouts)
drops_the_output = borrow(dropouts.drops_the_output, replaces="CausalSelfAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="CausalSelfAttention.gather")

from_heads = take(heads)
no_output_projection = borrow(heads.no_output_projection, replaces="CausalSelfAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="CausalSelfAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="CausalSelfAttention.leave")
activated_output = borrow(heads.activated_output, replaces="CausalSelfAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CausalSelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="CausalSelfAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="CausalSelfAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="CausalSelfAttention.project")
normalised_input = borrow(projections.normalised_input, replaces="CausalSelfAttention.project")

from_gradients = take(gradients, except_=("everything_cut_off",))
input_cut_off = borrow(gradients.input_cut_off, replaces="CausalSelfAttention.project")


@mistake(replaces="scores_of", dimension="numerics")
def queries_and_keys_swapped(queries: Tensor, keys: Tensor) -> Tensor:
    """You swap queries and keys.

    Row i of your scores holds the products of key i with every query; it must hold the products of *query* i with every
    key. Either the factors of the product are swapped, or you use the output of W_query as the keys. If you unpack or
    chunk several projections at once, check their order.
    """
    return keys @ queries.transpose(-2, -1)


@mistake(replaces="hide_future", dimension="masking")
def hides_what_it_may_see(scores: Tensor) -> Tensor:
    """You mask the allowed positions and show the forbidden ones.

    Your triangle has ones at the allowed positions, and `masked_fill` fills where its mask is one. The last position
    then attends to nothing: a softmax over no keys is NaN.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))


@mistake(replaces="CausalSelfAttention.forward", dimension="numerics")
def drops_scores(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You apply dropout to the scores, before the softmax.

    A dropped score becomes zero, which is an ordinary score and still gets weight. Apply dropout to the attention
    weights, after the softmax.
    """
    queries, keys, values = _split(self, x)
    weights = torch.softmax(_hide(self.dropout(_scores(queries, keys))), dim=-1)
    return self.leave((weights @ values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="CausalSelfAttention.leave", dimension="numerics")
def drops_after_the_projection(self: Any, context: Tensor) -> Tensor:
    """You apply a second dropout before or after the output projection.

    Many language models have this one too and call it residual dropout. It is not part of this layer: here dropout
    applies to the attention weights only.
    """
    return torch.dropout(self.W_out(context), self.dropout.p, self.training)


@mistake(replaces="CausalSelfAttention.forward", dimension="masking")
def returns_unmasked_weights(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return weights computed without the mask.

    Your output is right, but the weights that you return give the future a share. Return the same weights that you
    multiply by the values.
    """
    queries, keys, values = _split(self, x)
    context = self.gather(self.weigh(queries, keys), values)
    return self.leave(context.transpose(1, 2).flatten(2)), torch.softmax(_scores(queries, keys), dim=-1)


@mistake(replaces="CausalSelfAttention.forward", dimension="numerics")
def returns_the_scores(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return the scores instead of the attention weights.

    Your output is right. The second result must be the weights, after the softmax; you return the scores, before the
    softmax.
    """
    queries, keys, values = _split(self, x)
    context = self.gather(self.weigh(queries, keys), values)
    return self.leave(context.transpose(1, 2).flatten(2)), _hide(_scores(queries, keys))


@mistake(replaces="CausalSelfAttention.forward", dimension="numerics")
def adds_the_input(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You add the input to the output.

    A residual connection is part of the transformer block around the attention. This module returns the result of the
    output projection only.
    """
    queries, keys, values = _split(self, x)
    weights = self.weigh(queries, keys)
    return x + self.leave(self.gather(weights, values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="hand_back", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights before the output.

    Both results are there, but in the wrong order. The statement asks for `(output, weights)`. Check your `return`
    statement.
    """
    return weights, output


@mistake(replaces="hand_back", dimension="shapes")
def weights_forgotten(output: Tensor, weights: Tensor) -> Tensor:
    """You return only the output.

    Return two results: the output and the weights of every head.
    """
    return output


@mistake(replaces="hand_back", dimension="shapes")
def returned_weights_averaged(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The attention weights that you return have no head axis.

    Return the weights of every head, (B, h, T, T): do not average them, and do not pick one head.
    """
    return output, weights.mean(dim=1)


@mistake(replaces="hand_back", dimension="shapes")
def time_before_batch(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the time axis before the batch axis.

    Input and output both have the batch axis first. Look for a transpose of the first two axes.
    """
    return output.transpose(0, 1), weights


@mistake(replaces="CausalSelfAttention.forward", dimension="numerics")
def drops_the_output_instead(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You apply dropout to the output projection instead of the attention weights.

    Your dropout is before or after that layer. Many language models have such a dropout too and call it residual
    dropout. Here dropout applies to the attention weights, before you multiply them by the values.
    """
    queries, keys, values = _split(self, x)
    weights = self.weigh(queries, keys)
    output = self.W_out((weights @ values).transpose(1, 2).flatten(2))
    return torch.dropout(output, self.dropout.p, self.training), weights


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])


def _hide(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), float("-inf"))


def _split(self: Any, x: Tensor) -> list[Tensor]:
    return [part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in self.project(x)]
