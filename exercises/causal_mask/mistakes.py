"""What students get wrong in the causal mask."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


def _ones(seq_len: int) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


@mistake(replaces="future", dimension="masking")
def hides_itself(seq_len: int) -> Tensor:
    """Your mask also covers the diagonal.

    No position attends to itself, and the first one attends to nothing: a softmax over no keys is NaN. Check the
    diagonal from which your triangle starts.
    """
    return _ones(seq_len).triu(diagonal=0)


@mistake(replaces="future", dimension="masking")
def sees_one_ahead(seq_len: int) -> Tensor:
    """Your mask starts one position too late.

    Every position attends to the one after it. In row i, column i + 1 is the first one that must be masked.
    """
    return _ones(seq_len).triu(diagonal=2)


@mistake(replaces="future", dimension="masking")
def hides_the_past(seq_len: int) -> Tensor:
    """You mask the past and show the future.

    You use the wrong triangle. Row i is the query: which columns may the first row attend to?
    """
    return _ones(seq_len).tril(diagonal=-1)


@mistake(replaces="future", dimension="masking")
def shows_only_the_future(seq_len: int) -> Tensor:
    """You mask the allowed positions and show the forbidden ones.

    In your output, the past and the position itself are -inf, and the future is 0. Check what True or 1 means in your
    mask when you fill it.
    """
    return _ones(seq_len).tril(diagonal=0)


@mistake(replaces="future", dimension="masking")
def hides_nothing(seq_len: int) -> Tensor:
    """Your mask masks nothing.

    It is zero everywhere. `masked_fill` and `triu` return new tensors and do not change the old one.
    """
    return ~_ones(seq_len)


@mistake(replaces="future", dimension="masking")
def hides_everything(seq_len: int) -> Tensor:
    """Your mask masks everything.

    It is -inf everywhere, so no position can attend to anything.
    """
    return _ones(seq_len)


@mistake(replaces="future", dimension="masking")
def turned_over(seq_len: int) -> Tensor:
    """Your triangle is in the wrong corner.

    The allowed cells must include the diagonal from the upper left to the lower right. Yours follow the other diagonal.
    """
    return _ones(seq_len).triu(diagonal=1).flip(1)


@mistake(replaces="future", dimension="masking")
def sees_one_back_only(seq_len: int) -> Tensor:
    """Your mask also covers the distant past.

    Every position may attend to all earlier positions, at any distance.
    """
    return _ones(seq_len).triu(diagonal=1) | _ones(seq_len).tril(diagonal=-2)


@mistake(replaces="future", dimension="shapes")
def one_too_large(seq_len: int) -> Tensor:
    """Your mask has one row and one column too many.

    It must fit scores of shape (T, T).
    """
    return _ones(seq_len + 1).triu(diagonal=1)


@mistake(replaces="fill", dimension="masking")
def minus_ten_thousand() -> float:
    """You fill with -10000 instead of -inf.

    This masks a position only while the other scores of the row are far above -10000. Only one number is below every
    score.
    """
    return -1e4


@mistake(replaces="fill", dimension="masking")
def minus_a_billion() -> float:
    """You fill with -1e9 instead of -inf.

    This works for most scores. But float16 cannot represent it (its lowest number is -65504), and if all visible scores
    of a row are lower, the masked positions take the weight. The statement asks for -inf.
    """
    return -1e9


@mistake(replaces="fill", dimension="masking")
def the_lowest_number() -> float:
    """You fill with the lowest finite number instead of -inf.

    Adding a large negative score to it can overflow, and adding two such masks always does. The statement asks for
    -inf.
    """
    return torch.finfo(torch.get_default_dtype()).min


@mistake(replaces="fill", dimension="masking")
def plus_infinity() -> float:
    """You fill with +inf instead of -inf.

    The exponential of +inf is infinite, so the masked positions would take all the weight. Check the sign.
    """
    return float("inf")


@mistake(replaces="fill", dimension="masking")
def ones() -> float:
    """Your mask has ones instead of -inf.

    Such a mask is made for multiplying or comparing. This one is added to the scores.
    """
    return 1.0


@mistake(replaces="paint", dimension="masking")
def one_for_may_and_zero_for_may_not(hidden: Tensor, value: float) -> Tensor:
    """Your mask has 1 at allowed positions and 0 at forbidden ones.

    Such a mask says which scores to fill. This one is added to the scores: an allowed score must stay unchanged, and a
    forbidden one must become -inf.
    """
    return (~hidden).to(torch.get_default_dtype())


@mistake(replaces="paint", dimension="numerics")
def ones_where_allowed(hidden: Tensor, value: float) -> Tensor:
    """Your mask is 1 at allowed positions.

    The mask is added to the scores, so it must be 0 where a score is to stay unchanged.
    """
    return torch.ones(hidden.shape).masked_fill(hidden, value)


@mistake(replaces="paint", dimension="numerics")
def zero_times_infinity(hidden: Tensor, value: float) -> Tensor:
    """Your mask has NaN instead of 0.

    Zero times infinity is NaN. Do not multiply a triangle of ones by -inf: fill the cells instead.
    """
    return hidden.to(torch.get_default_dtype()) * value


@mistake(replaces="paint", dimension="shapes")
def bools(hidden: Tensor, value: float) -> Tensor:
    """Your mask does not hold floating-point numbers.

    This mask is added to the scores, so it contains 0.0 and -inf. Boolean and integer tensors cannot hold -inf.
    """
    return hidden


@mistake(replaces="paint", dimension="shapes")
def with_a_batch(hidden: Tensor, value: float) -> Tensor:
    """Your mask has an extra axis.

    The statement asks for (T, T), without a leading axis of size one.
    """
    return torch.zeros(hidden.shape).masked_fill(hidden, value)[None]


@mistake(replaces="paint", dimension="shapes")
def with_batch_and_heads(hidden: Tensor, value: float) -> Tensor:
    """You return a mask with batch and head axes.

    The statement asks for (T, T). A mask of this shape broadcasts over any leading axes of the scores.
    """
    return torch.zeros(hidden.shape).masked_fill(hidden, value)[None, None]


@mistake(replaces="paint", dimension="numerics")
def weights_for_a_mask(hidden: Tensor, value: float) -> Tensor:
    """You return attention weights instead of a mask.

    The softmax comes later, in the attention layer, after your mask was added to the scores. Return 0 at allowed
    positions and -inf at forbidden ones.
    """
    return torch.softmax(torch.zeros(hidden.shape).masked_fill(hidden, value), dim=-1)


@mistake(replaces="future", dimension="masking")
def first_row_open(seq_len: int) -> Tensor:
    """Your first row masks nothing.

    The first position may attend only to itself; all other positions are in its future. That is no problem for the
    softmax: one visible key is enough.
    """
    hidden = _ones(seq_len).bool().triu(diagonal=1)
    hidden[0] = False
    return hidden
