"""What students get wrong in an attention that a model has to learn with."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, scores, weights
from grader.exercise.mistakes import mistake, take

from_scores = take(
    scores,
    except_=(
        "scaled_by_the_number_of_queries",
        "scaled_by_the_width_of_all_heads",
        "queries_meet_queries",
        "keys_ask_queries",
    ),
)
scaled_by_d_k = scores.scaled_by_the_width_itself
scaled_by_the_number_of_keys = scores.scaled_by_the_length

softmax_over_queries = weights.softmax_over_queries
softmax_over_heads = weights.softmax_over_heads
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
overflowing_softmax = weights.overflowing_softmax
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
mean_of_the_values = weights.mean_of_the_values
every_head_the_first = weights.every_head_the_first

from_masks = take(
    masks,
    except_=(
        "hidden_scores_are_minus_one",
        "hidden_scores_are_minus_twenty",
        "every_mask_transposed",
        "mask_transposed",
    ),
    also=("hidden_scores_are_huge",),
)

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
everything_cut_off = gradients.everything_cut_off


@mistake(replaces="width_of", dimension="numerics")
def width_of_the_values(query: Tensor, key: Tensor, value: Tensor) -> int:
    """You divide the scores by the root of the values' width.

    In this model keys and values have the same width, so it trains anyway. But scores are dot products of queries and
    keys, so their size depends on that width, d_k.
    """
    return value.shape[-1]


@mistake(replaces="weigh", dimension="masking")
def mask_after_the_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask after the softmax, so the weights no longer add up to one.

    The model can learn in spite of this, so its loss does not show it. But padding takes its share in the softmax
    before you set its weights to zero, and that share is lost: your output depends on the amount of padding.
    """
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


@mistake(replaces="gathered", dimension="shapes")
def mixes_the_keys(key: Tensor, value: Tensor) -> Tensor:
    """You average the keys instead of the values.

    In this model both have the same width, so no error is raised and the model may even learn. Keys only determine the
    weights; the output is the weighted sum of the values. Check the last product.
    """
    return key


@mistake(replaces="shown", dimension="numerics")
def returns_the_scores(scores: Tensor, mask: Tensor | None, weights: Tensor) -> Tensor:
    """You return the scores instead of the attention weights.

    Your output is right, and the model learns from it. The second result must be the weights, after the softmax; you
    return the scores, before softmax and mask.
    """
    return scores


@mistake(replaces="shown", dimension="masking")
def returns_unmasked_weights(scores: Tensor, mask: Tensor | None, weights: Tensor) -> Tensor:
    """You return weights computed without the mask.

    Your output is right, but the weights that you return give masked keys a share, and so would every picture of them.
    Return the same weights that you multiply by the values.
    """
    return torch.softmax(scores, dim=-1)


@mistake(replaces="pair", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights before the output.

    Both results are there, but in the wrong order. The statement asks for `(output, weights)`. Check your `return`
    statement.
    """
    return weights, output
