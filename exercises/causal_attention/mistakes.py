"""What students get wrong in causal attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, dropouts, gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores, also=("divided_by_eight", "keys_reshaped"))
scaled_by_d_k = scores.scaled_by_the_width_itself
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="CausalAttention.project")
scaled_after_the_softmax = borrow(projections.scaled_after_the_softmax, replaces="CausalAttention.project")

from_weights = take(
    weights,
    except_=("log_softmax_for_softmax",),
    also=("softmax_of_the_softmax", "not_a_number_made_zero", "adds_the_values"),
)
softmax_over_the_batch = weights.softmax_over_the_first_axis

from_causal = take(causal, also=("fills_with_minus_one", "adds_ones_to_the_future"))
adds_the_mask_as_ones = causal.adds_the_mask
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="CausalAttention.weigh")

weights_transposed = borrow(weights.weights_transposed, dimension="masking")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CausalAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="CausalAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="CausalAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="CausalAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="CausalAttention.project")
value_bias_ignored = borrow(projections.value_bias_ignored, replaces="CausalAttention.project")

from_dropouts = take(dropouts, also=("renormalises_after_dropout", "drops_whole_rows"))
drops_the_output = borrow(dropouts.drops_the_output, replaces="CausalAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="CausalAttention.gather")
drops_twice = borrow(dropouts.drops_twice, replaces="CausalAttention.gather")

from_gradients = take(gradients, except_=("sum_cut_off",))
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
