"""What students get wrong in ALiBi."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


def _ones(seq_len: int) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


@mistake(replaces="penalty", dimension="numerics")
def rewards_distance(slope: Tensor, far: Tensor) -> Tensor:
    """Your scores grow with the distance.

    A key that lies further back has to lose more. Look at the sign, and at which of i - j and j - i you take.
    """
    return slope * far


@mistake(replaces="penalty", dimension="numerics")
def no_slopes(slope: Tensor, far: Tensor) -> Tensor:
    """All of your heads forget at the same speed.

    Each head has a slope of its own; in yours the distance is taken off as it is.
    """
    return -torch.ones_like(slope) * far


@mistake(replaces="penalty", dimension="numerics")
def divided_by_slopes(slope: Tensor, far: Tensor) -> Tensor:
    """You divide the distance by the slopes.

    A slope is what a score loses for one step.
    """
    return -far / slope


@mistake(replaces="penalty", dimension="numerics")
def squared_distance(slope: Tensor, far: Tensor) -> Tensor:
    """Your penalty grows with the square of the distance.

    ALiBi is linear: twice as far costs twice as much.
    """
    return -slope * far**2


@mistake(replaces="penalty", dimension="numerics")
def heads_in_reverse(slope: Tensor, far: Tensor) -> Tensor:
    """Your heads stand in the reverse order.

    The slopes are the right ones, and they begin with the wrong head.
    """
    return -slope.flip(0) * far


@mistake(replaces="distance", dimension="numerics")
def grows_along_the_row(seq_len: int) -> Tensor:
    """You count positions from the start of the sequence.

    The first column costs nothing in any of your rows. What counts is i - j, how far the key lies behind the query.
    Within a row the two differ by a constant, which the softmax does not see; the contract asks for i - j all the same.
    """
    return -torch.arange(seq_len)[None, :].expand(seq_len, -1)


@mistake(replaces="distance", dimension="numerics")
def counts_from_one(seq_len: int) -> Tensor:
    """A token loses something for looking at itself.

    The distance from i to i is 0; yours is one too many everywhere.
    """
    position = torch.arange(seq_len)
    return position[:, None] - position[None, :] + 1


@mistake(replaces="ratio", dimension="numerics")
def ratio_one_half(num_heads: int) -> float:
    """Your slopes halve from head to head, however many heads there are.

    That is right for eight heads only. The ratio depends on their number.
    """
    return 0.5


@mistake(replaces="ratio", dimension="numerics")
def ratio_upside_down(num_heads: int) -> float:
    """The exponent of your ratio is upside down.

    It is -8/n for n heads; yours is -n/8.
    """
    return 2.0 ** (-num_heads / 8.0)


@mistake(replaces="ratio", dimension="numerics")
def base_e(num_heads: int) -> float:
    """Your slopes are powers of e, not of 2.

    Look at the base of your exponential.
    """
    return math.exp(-8.0 / num_heads)


@mistake(replaces="sequence", dimension="numerics")
def begins_with_one(num_heads: int) -> list[float]:
    """Your slopes begin with 1.

    The first slope is the ratio itself, not its power zero.
    """
    return [2.0 ** (-8.0 / num_heads * power) for power in range(num_heads)]


@mistake(replaces="sequence", dimension="numerics")
def evenly_spaced(num_heads: int) -> list[float]:
    """Your slopes are evenly spaced.

    They form a geometric sequence: each is the one before, times the ratio.
    """
    return [power / num_heads for power in range(num_heads, 0, -1)]


@mistake(replaces="slopes", dimension="numerics")
def powers_of_two_only(num_heads: int) -> list[float]:
    """You use the formula for powers of two with any number of heads.

    Three heads do not have the ratio 2 to the -8/3: they take the slopes of two heads, and one more of four.
    """
    return [2.0 ** (-8.0 / num_heads * power) for power in range(1, num_heads + 1)]


@mistake(replaces="power_below", dimension="numerics")
def power_above(num_heads: int) -> int:
    """You go to the next larger power of two.

    Where the number of heads is no power of two, the slopes begin with those of the largest power below it.
    """
    return 1 << (num_heads - 1).bit_length()


@mistake(replaces="between", dimension="numerics")
def neighbours_from_the_start(power: int, count: int) -> list[float]:
    """Among the slopes that fill up, you skip none.

    Of the slopes of twice as many heads, take the first, the third, the fifth: the others are there already.
    """
    return [2.0 ** (-4.0 / power * number) for number in range(1, count + 1)]


@mistake(replaces="between", dimension="numerics")
def every_other_from_the_second(power: int, count: int) -> list[float]:
    """Among the slopes that fill up, you take the second, the fourth, the sixth.

    Those are there already. Begin with the first one of twice as many heads.
    """
    return [2.0 ** (-4.0 / power * number) for number in range(2, 2 * count + 1, 2)]


@mistake(replaces="slopes", dimension="numerics")
def sorted_slopes(num_heads: int) -> list[float]:
    """You sort the slopes.

    Those that fill up come last, though some are larger than those before.
    """
    power = 1 << (num_heads.bit_length() - 1)
    first = [2.0 ** (-8.0 / power * number) for number in range(1, power + 1)]
    return sorted(
        first + [2.0 ** (-4.0 / power * n) for n in range(1, 2 * power, 2)][: num_heads - power], reverse=True
    )


@mistake(replaces="future", dimension="masking")
def future_seen(seq_len: int) -> Tensor:
    """You do not hide the future.

    What lies ahead gets a bonus in yours: i - j is negative there. It has to be -inf.
    """
    return ~_ones(seq_len)


@mistake(replaces="future", dimension="masking")
def hides_itself(seq_len: int) -> Tensor:
    """You hide the diagonal as well.

    No position sees itself, and the first one sees nothing at all. Check the diagonal from which your triangle starts.
    """
    return _ones(seq_len).triu(diagonal=0)


@mistake(replaces="future", dimension="masking")
def sees_one_ahead(seq_len: int) -> Tensor:
    """You hide the future one position too late.

    Every position sees the one after it. In row i, column i + 1 is the first to be hidden.
    """
    return _ones(seq_len).triu(diagonal=2)


@mistake(replaces="future", dimension="masking")
def hides_the_past(seq_len: int) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one. Row i is who looks: which columns of the first row may be seen?
    """
    return _ones(seq_len).tril(diagonal=-1)


@mistake(replaces="fill", dimension="masking")
def future_at_zero() -> float:
    """You set the future to 0.

    A bias of 0 changes nothing: the future is seen, and better than the past.
    """
    return 0.0


@mistake(replaces="fill", dimension="masking")
def future_at_minus_ten_thousand() -> float:
    """You fill in -10000 where -inf belongs.

    That hides a position only while the row's other scores lie well above it.
    """
    return -1e4


@mistake(replaces="fill", dimension="masking")
def future_at_minus_a_billion() -> float:
    """You fill in -1e9 where -inf belongs.

    It works for most scores. float16 cannot hold it (its lowest number is -65504), and a row whose scores all lie lower
    would be taken over by it. The contract asks for -inf.
    """
    return -1e9


@mistake(replaces="alibi_bias", dimension="masking")
def symmetric(num_heads: int, seq_len: int) -> Tensor:
    """Your bias is the same in both directions.

    Taking the distance without its sign is ALiBi for models that look both ways. Here the future is hidden.
    """
    power = 1 << (num_heads.bit_length() - 1)
    slope = [2.0 ** (-8.0 / power * n) for n in range(1, power + 1)]
    slope += [2.0 ** (-4.0 / power * n) for n in range(1, 2 * power, 2)][: num_heads - power]
    position = torch.arange(seq_len)
    return -torch.tensor(slope)[:, None, None] * (position[:, None] - position).abs()


@mistake(replaces="penalty", dimension="shapes")
def heads_last(slope: Tensor, far: Tensor) -> Tensor:
    """Your heads stand last, (T, T, h).

    The bias is added to scores of shape (B, h, T, T), so the heads come first.
    """
    return (-slope * far).permute(1, 2, 0)


@mistake(replaces="alibi_bias", dimension="shapes")
def with_a_batch(num_heads: int, seq_len: int) -> Tensor:
    """Your bias has an axis too many, (1, h, T, T).

    The contract asks for (h, T, T); an axis for the batch comes by itself when it is added.
    """
    return torch.zeros(1, num_heads, seq_len, seq_len)


@mistake(replaces="fill", dimension="masking")
def future_at_the_lowest_number() -> float:
    """You hide the future with the lowest number that there is, not with -inf.

    A softmax gives it no weight, as long as nothing is added. Here -inf is asked for, which stays -inf.
    """
    return torch.finfo(torch.get_default_dtype()).min


@mistake(replaces="ratio", dimension="numerics")
def ratio_of_whole_numbers(num_heads: int) -> float:
    """You divide 8 by the number of heads without a remainder.

    For 1, 2, 4 and 8 heads nothing shows. For 16 of them, whose slopes are needed from 9 heads on, 8 // 16 is 0, and
    all slopes are 1. Look for a `//`.
    """
    return 2.0 ** -(8 // num_heads)


@mistake(replaces="slopes", dimension="numerics")
def first_slopes_of_the_double(num_heads: int) -> list[float]:
    """You take the first slopes of the next power of two.

    For a number of heads that is no power of two, the slopes of the power below come first, and only what is missing
    is taken from the power above, every other one.
    """
    power = 2 ** (num_heads - 1).bit_length()
    return [2.0 ** (-8.0 * head / power) for head in range(1, num_heads + 1)]


@mistake(replaces="slopes", dimension="numerics")
def double_first(num_heads: int) -> list[float]:
    """Your slopes of the next power of two come first.

    The first, third, fifth, … slope of twice as many heads fill up what is missing, so they come last. Check the order
    of the two lists that you join.
    """
    power = 2 ** (num_heads.bit_length() - 1)
    if power == num_heads:
        return [2.0 ** (-8.0 * head / power) for head in range(1, power + 1)]
    double = [2.0 ** (-4.0 * head / power) for head in range(1, 2 * power + 1)]
    return [*double[0::2], *double[1::2]][:num_heads]


@mistake(replaces="alibi_bias", dimension="numerics")
def zero_times_infinity(num_heads: int, seq_len: int) -> Tensor:
    """You multiply a mask of zeros and ones by infinity.

    Zero times infinity is NaN, and so is everything that it is added to: all that should be seen. Use `masked_fill`,
    or `where`.
    """
    return torch.ones(num_heads, seq_len, seq_len).triu(diagonal=1) * float("-inf")
