"""What students get wrong in multi-head attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.exercise.families import dropouts, gradients, heads, masks, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

Projections = tuple[Tensor, Tensor, Tensor]

from_scores = take(scores, except_=("keys_meet_keys",))

from_weights = take(weights, except_=("log_softmax_for_softmax", "scores_clamped", "first_sequence_for_all"))

from_masks = take(
    masks,
    except_=("hidden_scores_are_minus_one", "mask_transposed"),
    also=("a_number_added_where_hidden", "an_axis_too_many"),
)
zeros_taken_for_hidden = borrow(masks.zeros_taken_for_hidden, dimension="numerics")

from_dropouts = take(dropouts)
drops_the_output = borrow(dropouts.drops_the_output, replaces="MultiHeadAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="MultiHeadAttention.gather")

from_heads = take(heads)
no_output_projection = borrow(heads.no_output_projection, replaces="MultiHeadAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="MultiHeadAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="MultiHeadAttention.leave")

from_gradients = take(gradients, except_=("everything_cut_off",))


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
    """You divide by the square root of the key width after the softmax.

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

    Both are there, but in the wrong order. The exercise asks for `(output, weights)`: check your `return`.
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
    """The attention weights that you return have no head axis.

    Return the weights of every head, (B, h, T_q, T_k): do not average them, and do not pick one head.
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
