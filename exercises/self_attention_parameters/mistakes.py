"""What students get wrong in self-attention with bare parameters."""

from __future__ import annotations

from grader.exercise.families import gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, take

from_scores = take(
    scores,
    also=(
        "divided_by_eight",
        "scaled_by_the_fourth_root",
        "distances_for_products",
        "cosines_for_products",
        "keys_reshaped",
    ),
)
scaled_by_d_k = scores.scaled_by_the_width_itself
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="SelfAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="SelfAttention.project")

from_weights = take(
    weights,
    also=(
        "softmax_over_all_pairs",
        "softmax_of_the_softmax",
        "scores_over_their_sum",
        "powers_of_two",
        "not_a_number_made_zero",
        "mean_of_the_values",
        "adds_the_values",
        "averages_over_time",
    ),
)


mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project")
mixes_the_queries = borrow(projections.mixes_the_queries, replaces="SelfAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project")
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
queries_and_values_swapped = borrow(projections.queries_and_values_swapped, replaces="SelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="SelfAttention.project")

from_gradients = take(gradients)
input_cut_off = borrow(gradients.input_cut_off, replaces="SelfAttention.project")
