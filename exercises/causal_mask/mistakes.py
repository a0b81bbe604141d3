"""What students get wrong in the causal mask."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


def _ones(seq_len: int) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


@mistake(replaces="future", dimension="masking")
def hides_itself(seq_len: int) -> Tensor:
    """Your mask hides the diagonal as well.

    No position sees itself, and the first one sees nothing at all: a softmax over nothing is NaN. Check the diagonal
    from which your triangle starts.
    """
    return _ones(seq_len).triu(diagonal=0)


@mistake(replaces="future", dimension="masking")
def sees_one_ahead(seq_len: int) -> Tensor:
    """Your mask starts one position too late.

    Every position sees the one after it. In row i, column i + 1 is the first to be hidden.
    """
    return _ones(seq_len).triu(diagonal=2)


@mistake(replaces="future", dimension="masking")
def hides_the_past(seq_len: int) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one. Row i is who looks: which columns of the first row may be seen?
    """
    return _ones(seq_len).tril(diagonal=-1)


@mistake(replaces="future", dimension="masking")
def shows_only_the_future(seq_len: int) -> Tensor:
    """You hide what may be seen, and show what may not.

    The past and the position itself are -inf in yours, the future is 0. Look at what True or 1 means in your mask where
    you fill it in.
    """
    return _ones(seq_len).tril(diagonal=0)


@mistake(replaces="future", dimension="masking")
def hides_nothing(seq_len: int) -> Tensor:
    """Your mask hides nothing.

    It is zero everywhere. `masked_fill` and `triu` return new tensors; the old one stays as it was.
    """
    return ~_ones(seq_len)


@mistake(replaces="future", dimension="masking")
def hides_everything(seq_len: int) -> Tensor:
    """Your mask hides everything.

    It is -inf everywhere, so no position sees anything.
    """
    return _ones(seq_len)


@mistake(replaces="future", dimension="masking")
def turned_over(seq_len: int) -> Tensor:
    """Your triangle lies in another corner.

    The allowed cells have to contain the diagonal from the upper left to the lower right. Yours runs the other way.
    """
    return _ones(seq_len).triu(diagonal=1).flip(1)


@mistake(replaces="future", dimension="masking")
def sees_one_back_only(seq_len: int) -> Tensor:
    """Your mask hides the distant past too.

    Every position may look at all that came before, however long ago.
    """
    return _ones(seq_len).triu(diagonal=1) | _ones(seq_len).tril(diagonal=-2)


@mistake(replaces="future", dimension="shapes")
def one_too_large(seq_len: int) -> Tensor:
    """Your mask has a row and a column too many.

    It must fit scores of shape (T, T).
    """
    return _ones(seq_len + 1).triu(diagonal=1)


@mistake(replaces="fill", dimension="masking")
def minus_ten_thousand() -> float:
    """You fill in -10000 where -inf belongs.

    That hides a position only while the row's other scores lie well above it. Only one number is below every score.
    """
    return -1e4


@mistake(replaces="fill", dimension="masking")
def minus_a_billion() -> float:
    """You fill in -1e9 where -inf belongs.

    It works for most scores. float16 cannot hold it (its lowest number is -65504), and a row whose scores all lie lower
    would be taken over by it. The contract asks for -inf.
    """
    return -1e9


@mistake(replaces="fill", dimension="masking")
def the_lowest_number() -> float:
    """You fill in the lowest finite number where -inf belongs.

    Added to a negative score it overflows, and two such masks together do so for sure. The contract asks for -inf.
    """
    return torch.finfo(torch.get_default_dtype()).min


@mistake(replaces="fill", dimension="masking")
def plus_infinity() -> float:
    """You fill in +inf, not -inf.

    The exponential of +inf is infinite: hidden positions would take everything. Look at the sign.
    """
    return float("inf")


@mistake(replaces="fill", dimension="masking")
def ones() -> float:
    """Your mask holds ones where -inf belongs.

    That is a mask to multiply or to compare with. This one is added to the scores.
    """
    return 1.0


@mistake(replaces="paint", dimension="masking")
def one_for_may_and_zero_for_may_not(hidden: Tensor, value: float) -> Tensor:
    """Your mask holds 1 where a position may look and 0 where it may not.

    Such a mask is compared with 0, and the scores are filled by it. This one is added to the scores: what may be seen
    has to stay as it is, and what may not has to become -inf.
    """
    return (~hidden).to(torch.get_default_dtype())


@mistake(replaces="paint", dimension="numerics")
def ones_where_allowed(hidden: Tensor, value: float) -> Tensor:
    """Your mask is 1 where a position may look.

    The mask is added to the scores, so what leaves a score as it is has to be 0.
    """
    return torch.ones(hidden.shape).masked_fill(hidden, value)


@mistake(replaces="paint", dimension="numerics")
def zero_times_infinity(hidden: Tensor, value: float) -> Tensor:
    """Your mask has NaN where 0 belongs.

    Zero times infinity is not a number. Do not multiply a triangle of ones with -inf: fill the cells.
    """
    return hidden.to(torch.get_default_dtype()) * value


@mistake(replaces="paint", dimension="shapes")
def bools(hidden: Tensor, value: float) -> Tensor:
    """Your mask does not hold floating-point numbers.

    This one is to be added to the scores, so it consists of 0.0 and -inf. Booleans and whole numbers know no -inf.
    """
    return hidden


@mistake(replaces="paint", dimension="shapes")
def with_a_batch(hidden: Tensor, value: float) -> Tensor:
    """Your mask has an axis too many.

    The contract asks for (T, T), without a leading axis of size one.
    """
    return torch.zeros(hidden.shape).masked_fill(hidden, value)[None]


@mistake(replaces="paint", dimension="shapes")
def with_batch_and_heads(hidden: Tensor, value: float) -> Tensor:
    """You return a mask with axes for batch and heads.

    A table (T, T) is asked for. It broadcasts over whatever axes stand before it in the scores.
    """
    return torch.zeros(hidden.shape).masked_fill(hidden, value)[None, None]


@mistake(replaces="paint", dimension="numerics")
def weights_for_a_mask(hidden: Tensor, value: float) -> Tensor:
    """You return weights, not a mask.

    The softmax comes later, in attention, over scores to which your mask was added. Before it, hidden is -inf, and what
    is allowed is 0.
    """
    return torch.softmax(torch.zeros(hidden.shape).masked_fill(hidden, value), dim=-1)


@mistake(replaces="future", dimension="masking")
def first_row_open(seq_len: int) -> Tensor:
    """Your first row hides nothing.

    The first position has the longest future of all: it may look at itself alone, and so does no harm to a softmax.
    """
    hidden = _ones(seq_len).bool().triu(diagonal=1)
    hidden[0] = False
    return hidden
