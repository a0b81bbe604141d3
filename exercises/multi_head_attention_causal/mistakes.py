"""What students get wrong in causal multi-head attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake


@mistake(replaces="width_of_head", dimension="shapes")
def accepts_unequal_heads(d_out: int, num_heads: int) -> int:
    """You accept a d_out that num_heads does not divide.

    With d_out = 10 and three heads, one feature belongs to no head. Raise an exception in the constructor.
    """
    return d_out // num_heads


splits_without_transpose = heads.splits_without_transpose
merges_without_transpose = heads.merges_without_transpose
deals_features_out = heads.deals_features_out
mixes_batch_and_heads = heads.mixes_batch_and_heads
merges_features_before_heads = heads.merges_features_before_heads
heads_in_reverse = heads.heads_in_reverse
heads_averaged = heads.heads_averaged
first_head_for_all = heads.first_head_for_all

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_d_out = scores.scaled_by_the_width_of_all_heads
scaled_by_the_number_of_heads = scores.scaled_by_the_number_of_heads
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="MultiHeadAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="MultiHeadAttention.project")
queries_meet_queries = scores.queries_meet_queries
keys_ask_queries = scores.keys_ask_queries

softmax_over_queries = weights.softmax_over_queries
softmax_over_heads = weights.softmax_over_heads
softmax_over_the_batch = weights.softmax_over_the_first_axis
overflowing_softmax = weights.overflowing_softmax
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
no_softmax = weights.no_softmax

no_mask = causal.no_mask
sees_one_ahead = causal.sees_one_ahead
hides_itself = causal.hides_itself
hides_the_past = causal.hides_the_past
shows_only_the_future = causal.shows_only_the_future
fills_with_zero = causal.fills_with_zero
fills_with_minus_one = causal.fills_with_minus_one
fills_with_minus_ten = causal.fills_with_minus_ten
fills_with_minus_twenty = causal.fills_with_minus_twenty
fills_with_minus_ten_thousand = causal.fills_with_minus_ten_thousand
a_number_added_to_the_future = causal.a_number_added_to_the_future
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
adds_the_mask = causal.adds_the_mask
adds_ones_to_the_future = causal.adds_ones_to_the_future
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="MultiHeadAttention.weigh")
masks_the_first_head_only = causal.masks_the_first_head_only
masks_the_first_sequence_only = causal.masks_the_first_sequence_only

no_output_projection = borrow(heads.no_output_projection, replaces="MultiHeadAttention.leave")
output_projection_twice = borrow(heads.output_projection_twice, replaces="MultiHeadAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="MultiHeadAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="MultiHeadAttention.leave")
activated_output = borrow(heads.activated_output, replaces="MultiHeadAttention.leave")
biases_ignored = borrow(projections.biases_ignored, replaces="MultiHeadAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="MultiHeadAttention.project")
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="MultiHeadAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="MultiHeadAttention.project")

weights_transposed = borrow(weights.weights_transposed, dimension="masking")
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads
first_sequence_for_all = weights.first_sequence_for_all

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_rescaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
drops_whole_rows = dropouts.drops_whole_rows
drops_the_output = borrow(dropouts.drops_the_output, replaces="MultiHeadAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="MultiHeadAttention.gather")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
everything_cut_off = gradients.everything_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="MultiHeadAttention.project")


@mistake(replaces="MultiHeadAttention.forward", dimension="numerics")
def drops_the_output_instead(self: Any, x: Tensor) -> Tensor:
    """You apply dropout at the output projection, not to the attention weights.

    You drop elements before or after that layer. Many language models have such a residual dropout too. Here dropout is
    applied to the attention weights, before they are multiplied by the values.
    """
    queries, keys, values = (part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in self.project(x))
    output = self.W_out((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2))
    return torch.dropout(output, self.dropout.p, self.training)


@mistake(replaces="MultiHeadAttention.leave", dimension="numerics")
def drops_after_the_projection(self: Any, context: Tensor) -> Tensor:
    """You apply a second dropout, before or after the output projection.

    Many language models have such a residual dropout too. In this module dropout is applied to the attention weights
    only.
    """
    return torch.dropout(self.W_out(context), self.dropout.p, self.training)
