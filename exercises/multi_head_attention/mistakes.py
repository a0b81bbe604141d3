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
    """You make keys and values from `query`.

    That is right only where all three are the same sequence. Each of the three projections has an input of its own;
    there may be more keys than queries.
    """
    return self.W_query(query), self.W_key(query), self.W_value(query)


@mistake(replaces="MultiHeadAttention.project", dimension="shapes")
def asks_with_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You make the queries from `key`.

    Then there are as many outputs as keys, and what is in `query` makes no difference. Each of the three projections
    has an input of its own.
    """
    return self.W_query(key), self.W_key(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def values_from_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You make the values from `key`.

    In practice `key` and `value` are often the same tensor, and then nothing shows. They need not be: what W_value is
    given is `value`.
    """
    return self.W_query(query), self.W_key(key), self.W_value(key)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_from_the_values(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You make the keys from `value`.

    In practice `key` and `value` are often the same tensor, and then nothing shows. They need not be: what W_key is
    given is `key`.
    """
    return self.W_query(query), self.W_key(value), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """W_key and W_value have changed places.

    You compare the queries with what W_value gives, and mix what W_key gives. Follow each of the two layers to the
    place where its result is used; if you unpack or chunk several at once, check the order.
    """
    return self.W_query(query), self.W_value(key), self.W_key(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def queries_and_keys_swapped(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """W_query and W_key have changed places.

    The shapes fit, so nothing complains. Look at the lines that make queries and keys; if you unpack or chunk several
    layers at once, check the order.
    """
    return self.W_key(query), self.W_query(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def one_projection_for_all(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You use one projection for queries, keys and values.

    All three of yours go through W_query. Look for a line that was copied and not changed.
    """
    return self.W_query(query), self.W_query(key), self.W_query(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def query_weights_for_the_keys(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """You project the keys with W_query.

    Queries and keys go through the same weights, and W_key is never used. Look at the line that makes the keys.
    """
    return self.W_query(query), self.W_query(key), self.W_value(value)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def biases_ignored(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """The biases of your queries, keys and values have no effect.

    All the projections have biases here. If you multiply with `layer.weight` yourself, the bias stays out; calling the
    layer does both.
    """
    pairs = ((query, self.W_query), (key, self.W_key), (value, self.W_value))
    queries, keys, values = (F.linear(x, layer.weight) for x, layer in pairs)
    return queries, keys, values


@mistake(replaces="MultiHeadAttention.project", dimension="gradients")
def inputs_cut_off(self: Any, query: Tensor, key: Tensor, value: Tensor) -> Projections:
    """No gradient flows back to your inputs.

    Your own weights learn, but nothing that comes before this module can. Look for `detach()`, `.data` or a
    `torch.tensor(...)` round `query`, `key` or `value` at the start of `forward`.
    """
    return self.W_query(query.detach()), self.W_key(key.detach()), self.W_value(value.detach())


@mistake(replaces="apply_mask", dimension="masking")
def mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask lies on its side.

    The mask has a row for each query and a column for each key, as the scores have; padding hides columns. Yours has
    these two axes the other way round. Look for a transpose, or for an axis that you put in the wrong place.
    """
    return scores if mask is None else scores.masked_fill(mask.transpose(-2, -1) == 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def always_causal(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You hide the future without having been asked to.

    This layer is used in the encoder as well, where everybody may see everybody. Who may look where is what the mask
    says, and nothing else.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    hidden = future if mask is None else future | (mask == 0)
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="MultiHeadAttention.weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    The hidden keys have taken their share of each row by then, so what is left adds up to less than one. Hide the
    scores before the softmax, or divide each row by what is left of its sum.
    """
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    return weights if mask is None else weights * mask


@mistake(replaces="MultiHeadAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """You divide by the root of a head's width after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs to
    the scores, before they become weights.
    """
    scores = _hide(queries @ keys.transpose(-2, -1), mask)
    return torch.softmax(scores, dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def drops_scores(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Your dropout falls on the scores, before the softmax.

    A dropped score becomes zero, which is an ordinary score and still gets weight. Drop weights, after the softmax.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    weights = torch.softmax(_hide(self.dropout(_scores(queries, keys)), mask), dim=-1)
    return self.leave((weights @ values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="MultiHeadAttention.leave", dimension="numerics")
def drops_after_the_projection(self: Any, context: Tensor) -> Tensor:
    """You drop once more, round the output projection.

    A second dropout falls on what goes into the projection or comes out of it. In a transformer block one follows
    outside of attention. Here the weights alone are dropped.
    """
    return torch.dropout(self.W_out(context), self.dropout.p, self.training)


@mistake(replaces="MultiHeadAttention.forward", dimension="masking")
def returns_unmasked_weights(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return weights from before the mask.

    Your output is right, but the weights that you return beside it give hidden keys a share. Return the very weights
    that you multiply with the values.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    context = self.gather(self.weigh(queries, keys, mask), values)
    return self.leave(context.transpose(1, 2).flatten(2)), torch.softmax(_scores(queries, keys), dim=-1)


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def returns_the_scores(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return the scores in place of the weights.

    Your output is right. The second thing to return are the weights, after the softmax: what you return there is what
    goes into it.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    context = self.gather(self.weigh(queries, keys, mask), values)
    return self.leave(context.transpose(1, 2).flatten(2)), _hide(_scores(queries, keys), mask)


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def adds_the_query(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You add the query to the output.

    A residual connection is part of a transformer block, round attention. This module returns what the output
    projection gives.
    """
    queries, keys, values = _split(self, self.project(query, key, value))
    weights = self.weigh(queries, keys, mask)
    return query + self.leave(self.gather(weights, values).transpose(1, 2).flatten(2)), weights


@mistake(replaces="hand_back", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, in the other order. The contract is `(output, weights)`; look at your last line.
    """
    return weights, output


@mistake(replaces="hand_back", dimension="shapes")
def weights_forgotten(output: Tensor, weights: Tensor) -> Tensor:
    """You return the output alone.

    Two things are asked for, the output and the weights of every head.
    """
    return output


@mistake(replaces="hand_back", dimension="shapes")
def returned_weights_averaged(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You average the weights over the heads before you return them.

    The weights of every head are asked for, (B, h, T_q, T_k); yours have lost the head axis.
    """
    return output, weights.mean(dim=1)


@mistake(replaces="hand_back", dimension="shapes")
def queries_before_batch(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return time before batch.

    The batch comes first in what you are given, and so it does in what you return. Look for a transpose of the first
    two axes.
    """
    return output.transpose(0, 1), weights


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def drops_the_output_instead(
    self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Your dropout falls on the output projection, not on the weights.

    It drops what goes into that layer, or what comes out of it. Many language models have such a dropout as well, and
    call it the residual dropout. What is to be dropped here are the weights, before they meet the values.
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
