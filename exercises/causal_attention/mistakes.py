"""What students get wrong in causal attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

no_scaling = scores.no_scaling
halved = scores.halved
divided_by_eight = scores.divided_by_eight
keys_reshaped = scores.keys_reshaped
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
scaled_by_d_k = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="CausalAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="CausalAttention.project")
queries_meet_queries = scores.queries_meet_queries
keys_meet_keys = scores.keys_meet_keys
keys_ask_queries = scores.keys_ask_queries

softmax_over_queries = weights.softmax_over_queries
softmax_over_the_batch = weights.softmax_over_the_first_axis
overflowing_softmax = weights.overflowing_softmax
not_a_number_made_zero = weights.not_a_number_made_zero
scores_clamped = weights.scores_clamped
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
softmax_of_the_softmax = weights.softmax_of_the_softmax

no_mask = causal.no_mask
sees_one_ahead = causal.sees_one_ahead
hides_itself = causal.hides_itself
hides_the_past = causal.hides_the_past
sees_itself_only = causal.sees_itself_only
fills_with_zero = causal.fills_with_zero
fills_with_minus_one = causal.fills_with_minus_one
fills_with_minus_ten = causal.fills_with_minus_ten
fills_with_minus_twenty = causal.fills_with_minus_twenty
fills_with_minus_ten_thousand = causal.fills_with_minus_ten_thousand
adds_the_mask_as_ones = causal.adds_the_mask
a_number_added_to_the_future = causal.a_number_added_to_the_future
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
axes_too_many = causal.axes_too_many
shows_only_the_future = causal.shows_only_the_future
adds_ones_to_the_future = causal.adds_ones_to_the_future
masks_the_first_sequence_only = causal.masks_the_first_sequence_only
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="CausalAttention.weigh")

weights_transposed = borrow(weights.weights_transposed, dimension="masking")
adds_the_values = weights.adds_the_values
first_sequence_for_all = weights.first_sequence_for_all
time_before_batch = weights.time_before_batch

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CausalAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="CausalAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="CausalAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="CausalAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="CausalAttention.project")
value_bias_ignored = borrow(projections.value_bias_ignored, replaces="CausalAttention.project")

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_rescaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
drops_whole_rows = dropouts.drops_whole_rows
drops_the_output = borrow(dropouts.drops_the_output, replaces="CausalAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="CausalAttention.gather")
drops_twice = borrow(dropouts.drops_twice, replaces="CausalAttention.gather")
renormalises_after_dropout = dropouts.renormalises_after_dropout

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
everything_cut_off = gradients.everything_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="CausalAttention.project")


@mistake(replaces="CausalAttention.forward", dimension="numerics")
def drops_scores(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the scores, before the softmax.

    A dropped score becomes zero, which is an ordinary score and still gets weight. Apply dropout to the attention
    weights, after the softmax.
    """
    queries, keys, values = self.project(x)
    scores = self.dropout(queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1]))
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ values


@mistake(replaces="CausalAttention.forward", dimension="numerics")
def drops_hidden_scores(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the scores, after masking the future.

    Dropout multiplies by zero, and -inf times zero is NaN. A visible score that becomes zero still gets weight. Apply
    dropout to the attention weights, after the softmax.
    """
    queries, keys, values = self.project(x)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(self.dropout(scores.masked_fill(hidden, float("-inf"))), dim=-1) @ values


@mistake(replaces="CausalAttention.forward", dimension="numerics")
def drops_the_input(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the input, before the projections.

    A dropped input feature is missing for query, key and value alike. Dropout must remove single connections, "position
    i attends to position j": apply it to the attention weights, after the softmax.
    """
    queries, keys, values = self.project(self.dropout(x))
    return self.weigh(queries, keys) @ values  # type: ignore[no-any-return]  # the module's own method
