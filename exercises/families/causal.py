"""Mistakes in causal masking."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="hide_future", dimension="masking", common=True)
def no_mask(scores: Tensor) -> Tensor:
    """Nothing is masked: every position attends to the whole future.

    If your code builds a mask, its result may be unused: `masked_fill` returns a new tensor and does not change the old
    one.
    """
    return scores


@mistake(replaces="hide_future", dimension="masking", common=True)
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position attends to one future position. In row i, column i + 1 is the first one that must be masked.
    """
    return scores.masked_fill(_above(scores, 2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask also covers the diagonal.

    No position attends to itself, and position 0 attends to nothing: a softmax over no keys is NaN. `triu` and `tril`
    have an argument `diagonal` that sets where the triangle begins.
    """
    return scores.masked_fill(_above(scores, 0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def hides_the_past(scores: Tensor) -> Tensor:
    """You mask the past and show the future.

    You use the wrong triangle. Decide whether True in your mask means "masked" or "visible", and check every line that
    uses it.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(diagonal=-1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def shows_only_the_future(scores: Tensor) -> Tensor:
    """You mask the allowed positions and show the forbidden ones.

    Each position attends only to the future, and the last one attends to nothing: a softmax over no keys is NaN. A
    boolean mask marks either the visible or the masked positions. Check which of the two `masked_fill` expects.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def sees_itself_only(scores: Tensor) -> Tensor:
    """You mask the past as well as the future.

    Every position attends only to itself, so that weight is always one. Check whether you apply two masks.
    """
    return scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril().triu(), float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the masked scores to zero.

    A score of zero is an ordinary score: its exponential is one, so the future gets weight, often more than the past.
    Multiplying the scores by a mask of ones and zeros does the same.
    """
    return scores.masked_fill(_above(scores, 1), 0.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_one(scores: Tensor) -> Tensor:
    """You set the masked scores to -1.

    That is an ordinary score: its exponential is more than a third. Which score gets no weight at all?
    """
    return scores.masked_fill(_above(scores, 1), -1.0)


@mistake(replaces="hide_future", dimension="masking", common=True)
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the masked scores to -10.

    Its exponential is not zero, so some weight leaks to the future, and more when the other scores are low too. Which
    number is below every score?
    """
    return scores.masked_fill(_above(scores, 1), -10.0)


@mistake(replaces="hide_future", dimension="masking", common=True)
def fills_with_minus_twenty(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the masked scores to -20.

    Its exponential is about two billionths: small, but not zero. When the other scores are low too, the leak is large.
    Which number is below every score?
    """
    return scores.masked_fill(_above(scores, 1), -20.0)


@mistake(replaces="hide_future", dimension="masking", common=True)
def fills_with_minus_ten_thousand(scores: Tensor) -> Tensor:
    """Your fill value is not lower than every possible score.

    A number such as -100 or -10,000 works only while scores are moderate. If all visible scores of a row are lower than
    that, the masked positions get the weight. Which number is below every score?
    """
    return scores.masked_fill(_above(scores, 1), -1e4)


@mistake(replaces="hide_future", dimension="masking", common=True)
def a_number_added_to_the_future(scores: Tensor) -> Tensor:
    """The number that you add to future scores is not low enough.

    A term such as -100, -10,000 or log(1e-45) works only while future scores are not far above the past ones. A future
    key whose score is higher by more than that takes the weight. Which number is low enough for any score?
    """
    return scores + _above(scores, 1) * -1e4


@mistake(replaces="hide_future", dimension="masking")
def zeros_taken_for_hidden(scores: Tensor) -> Tensor:
    """You treat every score of zero as masked.

    `tril` sets the future scores to zero, and you then fill every entry that is 0. A past score can be zero as well: a
    token of zeros has only such scores. Build a separate mask, and use it to decide what to fill.
    """
    shown = scores.tril()
    return shown.masked_fill(shown == 0, float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def axes_too_many(scores: Tensor) -> Tensor:
    """Your mask has more axes than the scores, and so does your output.

    A mask of shape (1, 1, T, T) is meant for scores with batch and head axes. A mask of shape (T, T) broadcasts over
    any leading axes.
    """
    return scores.masked_fill(_above(scores, 1).view(-1, *scores.shape[-2:])[:1].unsqueeze(0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def an_axis_too_many(scores: Tensor) -> Tensor:
    """You insert an axis between the query and key axes of your mask.

    `mask.unsqueeze(1)` turns (T, T) into (T, 1, T): the query axis of the mask then lines up with the batch axis of the
    scores. A mask of shape (T, T) broadcasts over the batch without an extra axis.
    """
    table = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(table.unsqueeze(1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_the_smallest_positive(scores: Tensor) -> Tensor:
    """You fill with the smallest positive number instead of the lowest one.

    `finfo.tiny` and `finfo.eps` are just above zero, and a score of zero is an ordinary score. Look at the other
    attributes of `finfo`.
    """
    return scores.masked_fill(_above(scores, 1), torch.finfo(scores.dtype).tiny)


@mistake(replaces="hide_future", dimension="masking", common=True)
def adds_the_mask(scores: Tensor) -> Tensor:
    """You add a mask of zeros and ones to the scores.

    That changes scores by 1 and masks nothing. The number that you add to a masked score must be so low that its weight
    after the softmax is zero.
    """
    return scores + torch.ones_like(scores).tril()


@mistake(replaces="hide_future", dimension="masking")
def adds_ones_to_the_future(scores: Tensor) -> Tensor:
    """You add one to the future scores.

    Your mask is 1 at the positions to mask, and you add it unchanged: that raises the future scores and masks nothing.
    The number that you add there must be so low that the weight after the softmax is zero.
    """
    return scores + torch.ones_like(scores).triu(diagonal=1)


@mistake(replaces="hide_future", dimension="masking", common=True)
def masks_the_first_head_only(scores: Tensor) -> Tensor:
    """You mask the future in the first head only.

    The other heads attend to everything. The mask must broadcast over the head axis. Check how you index the scores.
    """
    hidden = _above(scores, 1)
    hidden[:, 1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="hide_future", dimension="masking", common=True)
def masks_the_first_sequence_only(scores: Tensor) -> Tensor:
    """You mask the future in the first sequence only.

    The other sequences of the batch attend to everything. The mask must broadcast over the batch axis. Check how you
    index the scores.
    """
    hidden = _above(scores, 1)
    hidden[1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set weights to zero after the softmax without renormalising.

    The future already took its share of each row in the softmax, so the remaining weights add up to less than one. Mask
    the scores before the softmax, or divide each row by its remaining sum.
    """
    return torch.softmax(_scores(queries, keys), dim=-1).tril()


@mistake(replaces="weigh", dimension="masking")
def infinite_weights(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set attention weights to -inf after the softmax.

    Set scores to -inf before the softmax, which turns them into weights of zero. A weight of -inf makes the whole
    output row infinite or NaN.
    """
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    return weights.masked_fill(_above(weights, 1), float("-inf"))


@mistake(replaces="weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by the square root of the key width after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores.masked_fill(_above(scores, 1), float("-inf")), dim=-1) / math.sqrt(keys.shape[-1])


def _above(scores: Tensor, diagonal: int) -> Tensor:
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal=diagonal)


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
