"""What students get wrong in causal multi-head attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take


@mistake(replaces="width_of_head", dimension="shapes")
def accepts_unequal_heads(d_out: int, num_heads: int) -> int:
    """You accept a d_out that num_heads does not divide.

    With d_out = 10 and three heads, one feature belongs to no head. Raise an exception in the constructor.
    """
    return d_out // num_heads


from_heads = take(heads, also=("heads_in_reverse", "heads_averaged", "first_head_for_all"))

from_scores = take(scores, except_=("keys_meet_keys",))
scaled_by_d_out = scores.scaled_by_the_width_of_all_heads
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="MultiHeadAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="MultiHeadAttention.project")

from_weights = take(weights, except_=("sigmoid_for_softmax", "log_softmax_for_softmax", "scores_clamped"))
softmax_over_the_batch = weights.softmax_over_the_first_axis

from_causal = take(causal, except_=("sees_itself_only",), also=("fills_with_minus_one", "adds_ones_to_the_future"))
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="MultiHeadAttention.weigh")

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

from_dropouts = take(dropouts, also=("drops_whole_rows",))
drops_the_output = borrow(dropouts.drops_the_output, replaces="MultiHeadAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="MultiHeadAttention.gather")

from_gradients = take(gradients, except_=("sum_cut_off",))
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
