"""What students get wrong in causal self-attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_number_of_heads = scores.scaled_by_the_number_of_heads
scaled_by_the_width_of_all_heads = scores.scaled_by_the_width_of_all_heads
queries_meet_queries = scores.queries_meet_queries
keys_meet_keys = scores.keys_meet_keys

softmax_over_queries = weights.softmax_over_queries
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
softmax_over_heads = weights.softmax_over_heads
overflowing_softmax = weights.overflowing_softmax
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
weights_transposed = borrow(weights.weights_transposed, dimension="masking")
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads

no_mask = causal.no_mask
sees_one_ahead = causal.sees_one_ahead
hides_itself = causal.hides_itself
hides_the_past = causal.hides_the_past
sees_itself_only = causal.sees_itself_only
fills_with_zero = causal.fills_with_zero
fills_with_minus_ten = causal.fills_with_minus_ten
fills_with_minus_twenty = causal.fills_with_minus_twenty
fills_with_minus_ten_thousand = causal.fills_with_minus_ten_thousand
a_number_added_to_the_future = causal.a_number_added_to_the_future
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
adds_the_mask = causal.adds_the_mask
masks_the_first_head_only = causal.masks_the_first_head_only
masks_the_first_sequence_only = causal.masks_the_first_sequence_only
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="CausalSelfAttention.weigh")
scaled_after_the_softmax = borrow(causal.scaled_after_the_softmax, replaces="CausalSelfAttention.weigh")

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_rescaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
drops_the_output = borrow(dropouts.drops_the_output, replaces="CausalSelfAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="CausalSelfAttention.gather")

splits_without_transpose = heads.splits_without_transpose
deals_features_out = heads.deals_features_out
mixes_batch_and_heads = heads.mixes_batch_and_heads
merges_without_transpose = heads.merges_without_transpose
merges_features_before_heads = heads.merges_features_before_heads
no_output_projection = borrow(heads.no_output_projection, replaces="CausalSelfAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="CausalSelfAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="CausalSelfAttention.leave")
activated_output = borrow(heads.activated_output, replaces="CausalSelfAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CausalSelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="CausalSelfAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="CausalSelfAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="CausalSelfAttention.project")
normalised_input = borrow(projections.normalised_input, replaces="CausalSelfAttention.project")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
sum_cut_off = gradients.sum_cut_off
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
    """You average the returned weights over the heads.

    Return the weights of every head, with shape (B, h, T, T). Yours have no head axis.
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
