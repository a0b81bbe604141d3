"""What students get wrong in self-attention with a mask."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

Pair = tuple[Tensor, Tensor]

from_scores = take(scores, also=("divided_by_eight", "keys_reshaped"))

from_weights = take(
    weights,
    except_=("no_softmax", "log_softmax_for_softmax", "shifted_by_the_largest_of_all", "hides_the_future"),
    also=("not_a_number_made_zero", "adds_the_values"),
)

from_masks = take(masks, also=("a_number_added_where_hidden", "an_axis_too_many"))
zeros_taken_for_hidden = borrow(masks.zeros_taken_for_hidden, dimension="numerics")


biases_ignored = borrow(projections.biases_ignored, replaces="SelfAttention.project")
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="SelfAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project")
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project", dimension="numerics")

from_gradients = take(gradients, except_=("everything_cut_off", "sum_cut_off"))
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
