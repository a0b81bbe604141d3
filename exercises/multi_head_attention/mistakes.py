"""What students get wrong in multi-head attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.exercise.families import dropouts, gradients, heads, masks, scores, weights
from grader.exercise.mistakes import borrow, mistake

Projections = tuple[Tensor, Tensor, Tensor]

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_number_of_queries = scores.scaled_by_the_number_of_queries
scaled_by_the_number_of_heads = scores.scaled_by_the_number_of_heads
scaled_by_the_width_of_all_heads = scores.scaled_by_the_width_of_all_heads
keys_ask_queries = scores.keys_ask_queries
queries_meet_queries = scores.queries_meet_queries

softmax_over_queries = weights.softmax_over_queries
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
softmax_over_heads = weights.softmax_over_heads
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
overflowing_softmax = weights.overflowing_softmax
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
weights_transposed = weights.weights_transposed
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads

mask_ignored = masks.mask_ignored
mask_inverted = masks.mask_inverted
mask_added = masks.mask_added
hidden_scores_are_zero = masks.hidden_scores_are_zero
hidden_scores_are_minus_ten = masks.hidden_scores_are_minus_ten
hidden_scores_are_minus_twenty = masks.hidden_scores_are_minus_twenty
hidden_scores_are_minus_ten_thousand = masks.hidden_scores_are_minus_ten_thousand
a_number_added_where_hidden = masks.a_number_added_where_hidden
zeros_taken_for_hidden = borrow(masks.zeros_taken_for_hidden, dimension="numerics")
an_axis_too_many = masks.an_axis_too_many
mask_inverted_with_a_large_number = masks.mask_inverted_with_a_large_number
zero_times_infinity = masks.zero_times_infinity
first_mask_for_all = masks.first_mask_for_all
masks_the_first_head_only = masks.masks_the_first_head_only

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_rescaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
drops_the_output = borrow(dropouts.drops_the_output, replaces="MultiHeadAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="MultiHeadAttention.gather")

splits_without_transpose = heads.splits_without_transpose
deals_features_out = heads.deals_features_out
mixes_batch_and_heads = heads.mixes_batch_and_heads
merges_without_transpose = heads.merges_without_transpose
merges_features_before_heads = heads.merges_features_before_heads
no_output_projection = borrow(heads.no_output_projection, replaces="MultiHeadAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="MultiHeadAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="MultiHeadAttention.leave")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
sum_cut_off = gradients.sum_cut_off


@mistake(replaces="MultiHeadAttention.project", dimension="shapes")
def attends_to_itself(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You compute keys and values from `query`.

    That is right only in self-attention, where all three are the same sequence. Each of the three projections has its
    own input, and the numbers of keys and queries may differ.
    """
    return self.W_query(query), self.W_key(query), self.W_value(query)


@mistake(replaces="MultiHeadAttention.project", dimension="shapes")
def asks_with_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You compute the queries from `key`.

    Your output has one row per key, and `query` has no influence. Each of the three projections has its own input.
    """
    return self.W_query(key), self.W_key(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def values_from_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You compute the values from `key`.

    Often `key` and `value` are the same tensor, and then the mistake has no effect. In general they differ: apply
    W_value to `value`.
    """
    return self.W_query(query), self.W_key(key), self.W_value(key)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_from_the_values(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You compute the keys from `value`.

    Often `key` and `value` are the same tensor, and then the mistake has no effect. In general they differ: apply W_key
    to `key`.
    """
    return self.W_query(query), self.W_key(value), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You swap W_key and W_value.

    You use the output of W_value as keys, and the output of W_key as values. Check where the result of each layer is
    used. If you unpack or chunk several at once, check the order.
    """
    return self.W_query(query), self.W_value(key), self.W_key(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def queries_and_keys_swapped(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You swap W_query and W_key.

    The shapes fit, so there is no error. Check the lines that compute queries and keys. If you unpack or chunk several
    layers at once, check the order.
    """
    return self.W_key(query), self.W_query(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def one_projection_for_all(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You use one projection for queries, keys and values.

    All three come from W_query. Look for a line that was copied and not changed.
    """
    return self.W_query(query), self.W_query(key), self.W_query(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def query_weights_for_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You project the keys with W_query.

    Queries and keys use the same parameters, and W_key is never used. Check the line that computes the keys.
    """
    return self.W_query(query), self.W_query(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def biases_ignored(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """The biases of your query, key and value projections have no effect.

    All projections have biases here. If you multiply by `layer.weight` yourself, the bias is missing; call the layer
    instead.
    """
    pairs = ((query, self.W_query), (key, self.W_key), (value, self.W_value))
    queries, keys, values = (F.linear(x, layer.weight) for x, layer in pairs)
    return queries, keys, values


@mistake(replaces="MultiHeadAttention.project", dimension="gradients")
def inputs_cut_off(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """No gradient flows back to your inputs.

    Your own parameters are trained, but nothing before this module can be. Look for `detach()`, `.data` or a
    `torch.tensor(...)` around `query`, `key` or `value` at the start of `forward`.
    """
    return self.W_query(query.detach()), self.W_key(key.detach()), self.W_value(value.detach())


@mistake(replaces="apply_mask", dimension="masking")
def mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask is transposed.

    Like the scores, the mask has a row for each query and a column for each key, so padding masks columns. Look for a
    transpose, or for an axis that you inserted in the wrong place.
    """
    return scores if mask is None else scores.masked_fill(mask.transpose(-2, -1) == 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def always_causal(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You always apply a causal mask.

    This layer is also used in the encoder, where every position attends to every position. Apply the given mask and no
    other.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    hidden = future if mask is None else future | (mask == 0)
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="MultiHeadAttention.weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """You mask the weights after the softmax, so they do not add up to one.

    The masked keys are still part of the softmax denominator. Mask the scores before the softmax, or divide each row by
    its new sum.
    """
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    return weights if mask is None else weights * mask


@mistake(replaces="MultiHeadAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """You divide by √d_head after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    scores = _hide(queries @ keys.transpose(-2, -1), mask)
    return torch.softmax(scores, dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def drops_scores(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You apply dropout to the scores, before the softmax.

    A dropped score becomes zero, which is an ordinary score and still gets weight. Apply dropout to the attention
    weights, after the softmax.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    weights = torch.softmax(_hide(self.dropout(_scores(queries, keys)), mask), dim=-1)
    return self.leave((weights @ values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="MultiHeadAttention.leave", dimension="numerics")
def drops_after_the_projection(self: Any, context: Tensor) -> Tensor:
    """You apply a second dropout, before or after the output projection.

    In a Transformer block there is one after the attention layer. In this module dropout is applied to the attention
    weights only.
    """
    return torch.dropout(self.W_out(context), self.dropout.p, self.training)


@mistake(replaces="MultiHeadAttention.forward", dimension="masking")
def returns_unmasked_weights(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return attention weights computed without the mask.

    Your output is right, but in the returned weights masked keys have weight. Return the same weights that you multiply
    by the values.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    context = self.gather(self.weigh(queries, keys, mask), values)
    return self.leave(context.transpose(1, 2).flatten(2)), torch.softmax(_scores(queries, keys), dim=-1)


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def returns_the_scores(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return the scores instead of the attention weights.

    Your output is right. The second return value must be the attention weights, after the softmax; yours are the scores
    before it.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    context = self.gather(self.weigh(queries, keys, mask), values)
    return self.leave(context.transpose(1, 2).flatten(2)), _hide(_scores(queries, keys), mask)


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def adds_the_query(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You add the query to the output.

    A residual connection is part of a Transformer block, outside the attention layer. This module returns the result of
    the output projection.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    weights = self.weigh(queries, keys, mask)
    return query + self.leave(self.gather(weights, values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="hand_back", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, but in the wrong order. The contract is `(output, weights)`: check your return statement.
    """
    return weights, output


@mistake(replaces="hand_back", dimension="shapes")
def weights_forgotten(output: Tensor, weights: Tensor) -> Tensor:
    """You return only the output.

    Return two tensors: the output, and the attention weights of every head.
    """
    return output


@mistake(replaces="hand_back", dimension="shapes")
def returned_weights_averaged(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You average the attention weights over the heads before you return them.

    Return the weights of every head, (B, h, T_q, T_k); yours have no head axis.
    """
    return output, weights.mean(dim=1)


@mistake(replaces="hand_back", dimension="shapes")
def queries_before_batch(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return time before batch.

    The batch axis comes first, in the input and in the output. Look for a transpose of the first two axes.
    """
    return output.transpose(0, 1), weights


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def drops_the_output_instead(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You apply dropout at the output projection, not to the attention weights.

    You drop elements before or after that layer. Many language models have such a residual dropout too. Here dropout is
    applied to the attention weights, before they are multiplied by the values.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    weights = self.weigh(queries, keys, mask)
    output = self.W_out((weights @ values).transpose(1, 2).flatten(2))
    return torch.dropout(output, self.dropout.p, self.training), weights


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])


def _hide(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


def _split(self: Any, parts: Projections) -> list[Tensor]:
    return [part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in parts]
