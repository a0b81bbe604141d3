"""What students get wrong in scaled dot-product attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, scores, weights
from grader.exercise.mistakes import mistake, take

from_scores = take(scores, also=("divided_by_eight", "scaled_by_the_fourth_root"))
keys_reshaped = scores.keys_reshaped
scaled_by_d_k = scores.scaled_by_the_width_itself
scaled_by_the_number_of_keys = scores.scaled_by_the_length
distances_for_products = scores.distances_for_products
cosines_for_products = scores.cosines_for_products

from_weights = take(
    weights,
    except_=("hides_the_future",),
    also=("softmax_over_all_pairs", "softmax_of_the_softmax", "powers_of_two", "not_a_number_made_zero"),
)
softmax_without_shift = weights.overflowing_softmax

from_masks = take(masks, also=("a_number_added_where_hidden", "zeros_taken_for_hidden", "an_axis_too_many"))

mean_of_the_values = weights.mean_of_the_values
detached_weights = gradients.weights_cut_off
detached_values = gradients.values_cut_off
detached_queries = gradients.queries_cut_off
detached_keys = gradients.keys_cut_off
detached_sum = gradients.sum_cut_off


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def scaled_by_the_values_width(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You divide the scores by the square root of the value width.

    Scores are products of queries and keys. Values are not involved, and may have a different width d_v. Use d_k, the
    size of the last axis of `query` and `key`.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(value.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))).softmax(dim=-1)
    return weights @ value, weights


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def scaled_after_the_softmax(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You divide by √d_k after the softmax.

    Your weights add up to 1/√d_k, so the output is too small, and the softmax itself gets unscaled scores. Divide the
    scores, before the softmax.
    """
    scores = query @ key.transpose(-2, -1)
    weights = (scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))).softmax(dim=-1)
    weights = weights / math.sqrt(key.shape[-1])
    return weights @ value, weights


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def returns_the_scores(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You return the scores instead of the attention weights.

    Your output is right. The second return value must be the attention weights, after the softmax; yours are the scores
    before it.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    scores = scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value, scores


@mistake(replaces="scaled_dot_product_attention", dimension="shapes")
def weights_first(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, but in the wrong order. The exercise asks for `(output, weights)`: check your `return`.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))).softmax(dim=-1)
    return weights, weights @ value


@mistake(replaces="scaled_dot_product_attention", dimension="shapes")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You multiply the weights by the keys, not by the values.

    Your output has the width of the keys, d_k. Keys only determine the weights; the output is the weighted sum of the
    values. Check the last product.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))).softmax(dim=-1)
    return weights @ key, weights


@mistake(replaces="weigh", dimension="masking")
def mask_after_the_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask the weights after the softmax, so they do not add up to one.

    The masked keys are still part of the softmax denominator, so they influence the output. Mask the scores before the
    softmax, or divide each row by its new sum.
    """
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


@mistake(replaces="scaled_dot_product_attention", dimension="masking")
def returns_unmasked_weights(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return attention weights computed without the mask.

    Your output is right, but in the returned weights masked keys have weight. Return the same weights that you multiply
    by the values.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    masked = scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(masked, dim=-1) @ value, torch.softmax(scores, dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_axis_two(scores: Tensor) -> Tensor:
    """Your softmax always runs over axis 2.

    With three axes, axis 2 holds the keys; with four axes it holds the queries. The keys are always the last axis: use
    `dim=-1`.
    """
    return torch.softmax(scores, dim=2)


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def scaled_by_axis_one(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You take the key width from axis 1.

    That is right only with two axes. With a batch, axis 1 is the number of queries or keys; with heads, it is the
    number of heads. The width is the last axis: use `shape[-1]`.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])
    weights = torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, float("-inf")), dim=-1)
    return weights @ value, weights


@mistake(replaces="scaled_dot_product_attention", dimension="shapes")
def output_alone(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """You return only the output.

    Return two tensors: the output and the attention weights, in this order.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, float("-inf")), dim=-1) @ value
