"""What students get wrong in self-attention with a mask."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

Pair = tuple[Tensor, Tensor]

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
divided_by_eight = scores.divided_by_eight
keys_reshaped = scores.keys_reshaped
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_length = scores.scaled_by_the_length
queries_meet_queries = scores.queries_meet_queries
keys_meet_keys = scores.keys_meet_keys
keys_ask_queries = scores.keys_ask_queries

softmax_over_queries = weights.softmax_over_queries
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
sigmoid_for_softmax = weights.sigmoid_for_softmax
overflowing_softmax = weights.overflowing_softmax
not_a_number_made_zero = weights.not_a_number_made_zero
scores_clamped = weights.scores_clamped
epsilon_in_the_denominator = weights.epsilon_in_the_denominator

mask_ignored = masks.mask_ignored
mask_inverted = masks.mask_inverted
mask_inverted_with_a_large_number = masks.mask_inverted_with_a_large_number
mask_added = masks.mask_added
a_number_added_where_hidden = masks.a_number_added_where_hidden
zeros_taken_for_hidden = borrow(masks.zeros_taken_for_hidden, dimension="numerics")
an_axis_too_many = masks.an_axis_too_many
every_mask_transposed = masks.every_mask_transposed
mask_transposed = masks.mask_transposed
padding_on_the_query_axis = masks.padding_on_the_query_axis
first_mask_for_all = masks.first_mask_for_all
hidden_scores_are_zero = masks.hidden_scores_are_zero
hidden_scores_are_minus_one = masks.hidden_scores_are_minus_one
hidden_scores_are_minus_ten = masks.hidden_scores_are_minus_ten
hidden_scores_are_minus_twenty = masks.hidden_scores_are_minus_twenty
hidden_scores_are_minus_ten_thousand = masks.hidden_scores_are_minus_ten_thousand
zero_times_infinity = masks.zero_times_infinity

weights_transposed = weights.weights_transposed
adds_the_values = weights.adds_the_values
first_sequence_for_all = weights.first_sequence_for_all
time_before_batch = weights.time_before_batch

biases_ignored = borrow(projections.biases_ignored, replaces="SelfAttention.project")
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="SelfAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project", dimension="numerics")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="SelfAttention.project")


@mistake(replaces="apply_mask", dimension="masking")
def booleans_only(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your code handles only boolean masks.

    For the integer 1, `~` gives -2, and for floating-point numbers it fails. The mask may also hold zeros and ones of
    any dtype: convert it to bool first, or compare it with 0.
    """
    return scores if mask is None else scores.masked_fill(~mask, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def numbers_only(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your code handles only masks of numbers.

    PyTorch does not subtract booleans. The mask may also be boolean: convert it to one dtype first, or compare it with
    0.
    """
    return scores if mask is None else scores.masked_fill((1 - mask).bool(), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def numbers_are_added(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add a mask of numbers to the scores.

    Boolean masks work. PyTorch's own attention adds masks of numbers to the scores; here 1 means "may attend" and 0
    "must not attend", in every dtype.
    """
    if mask is None or mask.dtype == torch.bool:
        return scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    return scores + mask


@mistake(replaces="apply_mask", dimension="masking")
def padding_on_both_axes(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You also mask the queries of padded tokens.

    A padding mask says which *keys* are masked. A padded token is still a query, and its output is computed like the
    others. Look for a product of the mask with its own transpose.
    """
    if mask is None:
        return scores
    allowed = (mask != 0) & (mask != 0).transpose(-2, -1) if mask.shape[-2] == 1 else mask != 0
    return scores.masked_fill(~allowed, -1e30)


@mistake(replaces="apply_mask", dimension="masking")
def always_causal(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You always apply a causal mask.

    Without a mask every token attends to all tokens, and with one to those that it allows. Remove the triangular mask:
    the caller supplies one where needed.
    """
    allowed = torch.ones_like(scores, dtype=torch.bool).tril()
    return scores.masked_fill(~allowed, float("-inf"))


@mistake(replaces="weights_of", dimension="masking")
def mask_after_the_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask the weights after the softmax, so they do not add up to one.

    The masked tokens are still part of the softmax denominator, so they influence the output. Mask the scores before
    the softmax, or divide each row by its new sum.
    """
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * (mask != 0)


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """You divide by √d_model after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    scores = queries @ keys.transpose(-2, -1)
    masked = scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(masked, dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="SelfAttention.forward", dimension="masking")
def returns_unmasked_weights(self: Any, x: Tensor, mask: Tensor | None = None) -> Pair:
    """You return attention weights computed without the mask.

    Your output is right, but in the returned weights masked tokens have weight. Return the same weights that you
    multiply by the values.
    """
    queries, keys, values = self.project(x)
    return self.weigh(queries, keys, mask) @ values, self.weigh(queries, keys, None)


@mistake(replaces="give", dimension="shapes")
def order_of_results(output: Tensor, weights: Tensor) -> Pair:
    """You return the weights first.

    Return two tensors, with the output first. Check your return statement.
    """
    return weights, output


@mistake(replaces="give", dimension="shapes")
def output_alone(output: Tensor, weights: Tensor) -> Tensor:
    """You return only the output.

    Return two tensors: the output, and the attention weights.
    """
    return output


@mistake(replaces="give", dimension="shapes")
def batch_of_one_squeezed(output: Tensor, weights: Tensor) -> Pair:
    """You remove every axis of size 1.

    A batch of one is still a batch, and a sequence of one token is still a sequence. `squeeze` without an argument
    removes both axes: name the axis that you mean, or do not squeeze.
    """
    return output.squeeze(), weights.squeeze()


@mistake(replaces="give", dimension="numerics")
def returned_on_their_side(output: Tensor, weights: Tensor) -> Pair:
    """You return the transposed attention weights.

    The output is right, so you used the right weights for it. Each row must belong to one query: look for a transpose
    after the weighted sum.
    """
    return output, weights.transpose(-2, -1)
