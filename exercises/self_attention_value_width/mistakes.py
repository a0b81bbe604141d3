"""What students get wrong in self-attention with values of their own width."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from grader.exercise.families import gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores, also=("divided_by_eight", "scaled_by_the_fourth_root", "keys_reshaped"))

from_weights = take(
    weights,
    also=(
        "softmax_over_all_pairs",
        "softmax_of_the_softmax",
        "not_a_number_made_zero",
        "adds_the_values",
        "averages_over_time",
    ),
)


keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project", dimension="shapes")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project")
one_projection_for_all = borrow(
    projections.one_projection_for_all, replaces="SelfAttention.project", dimension="shapes"
)
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="SelfAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="SelfAttention.project")

from_gradients = take(gradients)
input_cut_off = borrow(gradients.input_cut_off, replaces="SelfAttention.project")


@mistake(replaces="SelfAttention.project", dimension="numerics")
def scaled_by_the_values_width(self: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You divide the scores by √d_out_v.

    A score is a dot product of a query and a key, so its magnitude grows with d_out_kq. The values are used only
    afterwards. Check which size you take the square root of.
    """
    queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
    return queries * math.sqrt(keys.shape[-1] / values.shape[-1]), keys, values


@mistake(replaces="SelfAttention.gather", dimension="shapes")
def weights_beside_the_context(self: Any, weights: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """You also return the weights.

    Other exercises ask for both. Here return only the context.
    """
    return weights @ values, weights
