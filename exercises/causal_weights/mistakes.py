"""What students get wrong in causal weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import causal, gradients, scores, weights
from grader.exercise.mistakes import mistake, take

from_scores = take(scores, also=("divided_by_eight", "scaled_by_the_fourth_root"))

from_weights = take(weights, also=("softmax_over_all_pairs", "not_a_number_made_zero"))

from_causal = take(
    causal,
    except_=("masks_the_first_sequence_only",),
    also=("fills_with_minus_one", "zeros_taken_for_hidden", "an_axis_too_many", "adds_ones_to_the_future"),
)

sum_cut_off = gradients.sum_cut_off


@mistake(replaces="hide_future", dimension="masking")
def zero_times_infinity(scores: Tensor) -> Tensor:
    """You multiply zeros by -inf.

    A triangle of ones times -inf gives -inf where the triangle is 1, but 0 times -inf is NaN, not 0, and one NaN spoils
    the whole row. Choose between two values, with `masked_fill` or `where`, instead of multiplying.
    """
    return scores + torch.ones_like(scores).triu(diagonal=1) * float("-inf")


@mistake(replaces="hide_future", dimension="masking")
def masks_the_first_table_only(scores: Tensor) -> Tensor:
    """You mask the future in the first matrix only.

    The other matrices of the leading axes attend to the future. The mask must broadcast over all leading axes. Check
    how you index the scores.
    """
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    hidden.view(-1, *scores.shape[-2:])[1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(scores: Tensor) -> Tensor:
    """You set weights to zero after the softmax without renormalising.

    The future already took its share of each row in the softmax, so the remaining weights add up to less than one. Mask
    the scores before the softmax, or divide each row by its remaining sum.
    """
    return torch.softmax(scores, dim=-1).tril()


@mistake(replaces="weigh", dimension="masking")
def infinite_weights(scores: Tensor) -> Tensor:
    """You set attention weights to -inf after the softmax.

    A masked position must have weight 0. Set its *score* to -inf, before the softmax. Check the order of your steps.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores, dim=-1).masked_fill(future, float("-inf"))


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_axis_one(scores: Tensor) -> Tensor:
    """Your softmax always runs over axis 1.

    With two axes, axis 1 is the key axis; with three it is the query axis, with four the head axis. The keys are always
    the last axis: count from the end.
    """
    return torch.softmax(scores, dim=1)


@mistake(replaces="weigh", dimension="numerics")
def repaired_over_the_columns(scores: Tensor) -> Tensor:
    """You renormalise the columns of your weights instead of the rows.

    After you set the future to zero, each *row* adds up to less than one. Check the axis of your sum.
    """
    weights = torch.softmax(scores, dim=-1).tril()
    return weights / weights.sum(dim=-2, keepdim=True)


@mistake(replaces="weigh", dimension="masking")
def table_on_its_side(scores: Tensor) -> Tensor:
    """You return the weights transposed.

    Row i of your output holds the weights that the queries give to key i. A row must belong to one query and add up to
    one. Look for a transpose.
    """
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1).transpose(-2, -1)


@mistake(replaces="causal_attention_weights", dimension="numerics")
def scaled_after_the_softmax(scores: Tensor, d_k: int) -> Tensor:
    """You divide by √d_k after the softmax.

    Your weights then no longer add up to one, and they are as sharp as without scaling. Divide the scores before the
    softmax.
    """
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) / math.sqrt(d_k)


@mistake(replaces="weigh", dimension="shapes")
def leading_axes_flattened(scores: Tensor) -> Tensor:
    """You flatten all leading axes into one.

    The weights must have the shape of the scores: with any number of leading axes, or none. If you flatten axes during
    the computation, restore them at the end.
    """
    tables = scores.reshape(-1, *scores.shape[-2:])
    hidden = torch.ones_like(tables, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(tables.masked_fill(hidden, float("-inf")), dim=-1)


@mistake(replaces="weigh", dimension="shapes")
def axes_of_size_one_squeezed(scores: Tensor) -> Tensor:
    """You remove every axis of size one.

    A batch of one must keep its axis, and so must a sequence of one position. `squeeze` without an argument removes all
    axes of size one.
    """
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1).squeeze()


@mistake(replaces="scale", dimension="gradients")
def scores_cut_off(scores: Tensor, d_k: int) -> Tensor:
    """Your weights are detached from the scores.

    The values are right, but no gradient reaches the scores, so queries and keys cannot learn. Look for `detach()`,
    `.data`, `.numpy()`, `no_grad`, or a new tensor made from a computed one.
    """
    return scores.detach() / math.sqrt(d_k)
