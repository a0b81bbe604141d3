"""What students get wrong in self-attention with linear layers."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from grader.exercise.families import gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

biases_ignored = borrow(projections.biases_ignored, replaces="SelfAttention.project")
value_bias_ignored = borrow(projections.value_bias_ignored, replaces="SelfAttention.project")
query_bias_ignored = borrow(projections.query_bias_ignored, replaces="SelfAttention.project")

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
divided_by_eight = scores.divided_by_eight
keys_reshaped = scores.keys_reshaped
scaled_by_d_k = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_fourth_root = scores.scaled_by_the_fourth_root
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="SelfAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="SelfAttention.project")

queries_meet_queries = scores.queries_meet_queries
keys_meet_keys = scores.keys_meet_keys
keys_ask_queries = scores.keys_ask_queries
distances_for_products = scores.distances_for_products
cosines_for_products = scores.cosines_for_products

softmax_over_queries = weights.softmax_over_queries
softmax_over_all_pairs = weights.softmax_over_all_pairs
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
log_softmax_for_softmax = weights.log_softmax_for_softmax
softmax_of_the_softmax = weights.softmax_of_the_softmax
scores_over_their_sum = weights.scores_over_their_sum
powers_of_two = weights.powers_of_two
overflowing_softmax = weights.overflowing_softmax
not_a_number_made_zero = weights.not_a_number_made_zero
scores_clamped = weights.scores_clamped
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
hides_the_future = weights.hides_the_future

weights_transposed = weights.weights_transposed
adds_the_values = weights.adds_the_values
mean_of_the_values = weights.mean_of_the_values
adds_a_batch_axis = weights.adds_a_batch_axis
averages_over_time = weights.averages_over_time

mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project")
mixes_the_queries = borrow(projections.mixes_the_queries, replaces="SelfAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project")
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
queries_and_values_swapped = borrow(projections.queries_and_values_swapped, replaces="SelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="SelfAttention.project")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
everything_cut_off = gradients.everything_cut_off
sum_cut_off = gradients.sum_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="SelfAttention.project")


@mistake(replaces="SelfAttention.project", dimension="shapes")
def stored_matrices_not_turned(self: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You multiply by the matrices as `nn.Linear` stores them.

    `nn.Linear` stores (d_out, d_in) and multiplies by the transpose. Call the layer instead; it also adds its bias.
    """
    return x @ self.W_query.weight, x @ self.W_key.weight, x @ self.W_value.weight
