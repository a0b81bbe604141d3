"""What goes wrong where the future is to be hidden."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="hide_future", dimension="masking")
def no_mask(scores: Tensor) -> Tensor:
    """Nothing is hidden: every position sees the whole future.

    If there is a mask in your code, its result is lost: `masked_fill` returns a new tensor, and leaves the old one.
    """
    return scores


@mistake(replaces="hide_future", dimension="masking")
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position sees one position of its future: in row i, column i + 1 is the first to be hidden.
    """
    return scores.masked_fill(_above(scores, 2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask hides the diagonal as well.

    No position sees itself, and position 0 sees nothing at all: a softmax over nothing is NaN. A triangle has an
    argument that says where it begins.
    """
    return scores.masked_fill(_above(scores, 0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_the_past(scores: Tensor) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one. Decide whether True in your mask means "hide" or "show", and check every line.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(diagonal=-1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def shows_only_the_future(scores: Tensor) -> Tensor:
    """You hide what may be seen, and show what may not.

    Each position sees the future alone, and the last one sees nothing at all: a softmax over nothing is NaN. A mask
    says either who may look or who may not; find out which of the two your fill takes it for.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def sees_itself_only(scores: Tensor) -> Tensor:
    """You hide the past along with the future.

    Every position sees itself alone, so its weight is always one. Two masks of yours may be at work at once.
    """
    return scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril().triu(), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the hidden scores to zero.

    A score of zero is an ordinary score: its exponential is one, so the future gets weight, often more than the past.
    Multiplying the scores by a mask of ones and zeros does the same.
    """
    return scores.masked_fill(_above(scores, 1), 0.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_one(scores: Tensor) -> Tensor:
    """You set the hidden scores to -1.

    That is an ordinary score: its exponential is more than a third. Which score gets no weight at all?
    """
    return scores.masked_fill(_above(scores, 1), -1.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the hidden scores to -10.

    Its exponential is not zero, so a little of the future leaks in, and more where the other scores are low
    themselves. Is there a number below all others?
    """
    return scores.masked_fill(_above(scores, 1), -10.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_twenty(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the hidden scores to -20.

    Its exponential is two billionths, which is little and not nothing; and where the other scores are low themselves
    it is much. Is there a number below all others?
    """
    return scores.masked_fill(_above(scores, 1), -20.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten_thousand(scores: Tensor) -> Tensor:
    """Your fill value is within the reach of scores.

    With a number such as -100 or -10,000 nothing shows as long as scores are moderate. Once a row's own scores lie
    lower than that, the hidden positions win. Which number is below every score?
    """
    return scores.masked_fill(_above(scores, 1), -1e4)


@mistake(replaces="hide_future", dimension="masking")
def a_number_added_to_the_future(scores: Tensor) -> Tensor:
    """What you add to the scores of the future is not low enough.

    With a term such as -100, -10,000 or log(1e-45) nothing shows as long as the future does not score above the past. A
    later key that outscores it by more than that takes the weight. Which number is low enough for any score?
    """
    return scores + _above(scores, 1) * -1e4


@mistake(replaces="hide_future", dimension="masking")
def zeros_taken_for_hidden(scores: Tensor) -> Tensor:
    """You take a score of zero for a hidden one.

    `tril` makes the scores of the future zero, and you fill wherever there is a 0. A score of the past can be zero as
    well: a token of zeros has no other. Make a mask of its own, and ask that.
    """
    shown = scores.tril()
    return shown.masked_fill(shown == 0, float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def axes_too_many(scores: Tensor) -> Tensor:
    """Your mask has more axes than the scores, and so has your output.

    A mask of (1, 1, T, T) is meant for scores with a batch and heads. A table (T, T) broadcasts over whatever axes
    stand before it.
    """
    return scores.masked_fill(_above(scores, 1).view(-1, *scores.shape[-2:])[:1].unsqueeze(0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def an_axis_too_many(scores: Tensor) -> Tensor:
    """You put an axis into your mask that keeps queries and keys apart.

    `mask.unsqueeze(1)` makes (T, 1, T) of a table (T, T): its rows then stand where the scores have their batch. The
    table broadcasts over the axes before it as it is.
    """
    table = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(table.unsqueeze(1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_the_smallest_positive(scores: Tensor) -> Tensor:
    """You fill with the smallest positive number, not with the lowest one.

    `finfo.tiny` and `finfo.eps` are numbers just above zero, and a score of zero is an ordinary score. Look at what
    else `finfo` has.
    """
    return scores.masked_fill(_above(scores, 1), torch.finfo(scores.dtype).tiny)


@mistake(replaces="hide_future", dimension="masking")
def adds_the_mask(scores: Tensor) -> Tensor:
    """You add a mask of zeros and ones to the scores.

    That moves scores by 1 and hides nothing. What is added where a key is hidden must be so low that no weight is left
    after the softmax.
    """
    return scores + torch.ones_like(scores).tril()


@mistake(replaces="hide_future", dimension="masking")
def adds_ones_to_the_future(scores: Tensor) -> Tensor:
    """You add one to the scores of the future.

    Your mask has ones where it should hide, and it is added as it is: that raises the future and hides nothing. What
    is added there must be so low that no weight is left after the softmax.
    """
    return scores + torch.ones_like(scores).triu(diagonal=1)


@mistake(replaces="hide_future", dimension="masking")
def masks_the_first_head_only(scores: Tensor) -> Tensor:
    """You hide the future from the first head only.

    The other heads see everything. The mask has to broadcast over the head axis; look at how you index the scores.
    """
    hidden = _above(scores, 1)
    hidden[:, 1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def masks_the_first_sequence_only(scores: Tensor) -> Tensor:
    """You hide the future from the first sequence only.

    The other sequences of the batch see everything. The mask has to broadcast over the batch; look at how you index the
    scores.
    """
    hidden = _above(scores, 1)
    hidden[1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    The future has taken its share of each row by then, so what is left adds up to less than one. Hide the scores before
    the softmax, or divide each row by what is left of its sum.
    """
    return torch.softmax(_scores(queries, keys), dim=-1).tril()


@mistake(replaces="weigh", dimension="masking")
def infinite_weights(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set weights to -inf after the softmax.

    -inf belongs where scores are, before the softmax, which turns it into a weight of zero. As a weight it makes the
    whole row infinite or NaN.
    """
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    return weights.masked_fill(_above(weights, 1), float("-inf"))


@mistake(replaces="weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by the root of a key's width after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs to
    the scores, before they become weights.
    """
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores.masked_fill(_above(scores, 1), float("-inf")), dim=-1) / math.sqrt(keys.shape[-1])


def _above(scores: Tensor, diagonal: int) -> Tensor:
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal=diagonal)


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
