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
    """Your bias increases the score with distance.

    A key further back must lose more. Check the sign, and whether you use i - j or j - i.
    """
    return slope * far


@mistake(replaces="penalty", dimension="numerics")
def no_slopes(slope: Tensor, far: Tensor) -> Tensor:
    """All your heads use the same slope.

    Each head has its own slope. Your code subtracts the distance without multiplying by it.
    """
    return -torch.ones_like(slope) * far


@mistake(replaces="penalty", dimension="numerics")
def divided_by_slopes(slope: Tensor, far: Tensor) -> Tensor:
    """You divide the distance by the slopes.

    The slope is what a score loses per step, so multiply the distance by it.
    """
    return -far / slope


@mistake(replaces="penalty", dimension="numerics")
def squared_distance(slope: Tensor, far: Tensor) -> Tensor:
    """Your penalty grows with the square of the distance.

    ALiBi is linear: twice the distance gives twice the penalty.
    """
    return -slope * far**2


@mistake(replaces="penalty", dimension="numerics")
def heads_in_reverse(slope: Tensor, far: Tensor) -> Tensor:
    """Your heads are in reverse order.

    The slopes are right, but the first head has the last slope. It must have the first one.
    """
    return -slope.flip(0) * far


@mistake(replaces="distance", dimension="numerics")
def grows_along_the_row(seq_len: int) -> Tensor:
    """You count positions from the start of the sequence.

    The first column of your bias is 0 in every row. The bias must depend on i - j, the distance from the query back to
    the key. Within a row, your bias differs from it only by a constant, which the softmax ignores, but the statement
    asks for i - j.
    """
    return -torch.arange(seq_len)[None, :].expand(seq_len, -1)


@mistake(replaces="distance", dimension="numerics")
def counts_from_one(seq_len: int) -> Tensor:
    """Your bias penalises a token for attending to itself.

    The distance from i to i is 0. All your distances are too large by one.
    """
    position = torch.arange(seq_len)
    return position[:, None] - position[None, :] + 1


@mistake(replaces="ratio", dimension="numerics")
def ratio_one_half(num_heads: int) -> float:
    """Your slopes halve from head to head for any number of heads.

    That is right for eight heads only. The ratio depends on the number of heads.
    """
    return 0.5


@mistake(replaces="ratio", dimension="numerics")
def ratio_upside_down(num_heads: int) -> float:
    """The exponent of your ratio is inverted.

    The exponent is -8/n for n heads; yours is -n/8.
    """
    return 2.0 ** (-num_heads / 8.0)


@mistake(replaces="ratio", dimension="numerics")
def base_e(num_heads: int) -> float:
    """Your slopes are powers of e instead of 2.

    Check the base of your exponential.
    """
    return math.exp(-8.0 / num_heads)


@mistake(replaces="sequence", dimension="numerics")
def begins_with_one(num_heads: int) -> list[float]:
    """Your slopes begin with 1.

    The first slope is the ratio itself, r to the power 1, not r to the power 0.
    """
    return [2.0 ** (-8.0 / num_heads * power) for power in range(num_heads)]


@mistake(replaces="sequence", dimension="numerics")
def evenly_spaced(num_heads: int) -> list[float]:
    """Your slopes are evenly spaced.

    They must form a geometric sequence: each slope is the previous one times the ratio.
    """
    return [power / num_heads for power in range(num_heads, 0, -1)]


@mistake(replaces="slopes", dimension="numerics")
def powers_of_two_only(num_heads: int) -> list[float]:
    """You use the formula for powers of two with any number of heads.

    Three heads do not have the ratio 2 to the power -8/3. They use the slopes of two heads and then one slope of four
    heads.
    """
    return [2.0 ** (-8.0 / num_heads * power) for power in range(1, num_heads + 1)]


@mistake(replaces="power_below", dimension="numerics")
def power_above(num_heads: int) -> int:
    """You use the next larger power of two.

    If the number of heads is not a power of two, the slopes begin with those of the largest power of two below it.
    """
    return 1 << (num_heads - 1).bit_length()


@mistake(replaces="between", dimension="numerics")
def neighbours_from_the_start(power: int, count: int) -> list[float]:
    """You skip none of the slopes that you add for the remaining heads.

    From the slopes of twice as many heads, take the first, third, fifth and so on. The others are already in your list.
    """
    return [2.0 ** (-4.0 / power * number) for number in range(1, count + 1)]


@mistake(replaces="between", dimension="numerics")
def every_other_from_the_second(power: int, count: int) -> list[float]:
    """For the remaining heads, you take the second, fourth and sixth slope.

    Those are already in your list. Start with the first slope of twice as many heads.
    """
    return [2.0 ** (-4.0 / power * number) for number in range(2, 2 * count + 1, 2)]


@mistake(replaces="slopes", dimension="numerics")
def sorted_slopes(num_heads: int) -> list[float]:
    """You sort the slopes.

    The slopes for the remaining heads come last, even though some are larger than the ones before.
    """
    power = 1 << (num_heads.bit_length() - 1)
    first = [2.0 ** (-8.0 / power * number) for number in range(1, power + 1)]
    return sorted(
        first + [2.0 ** (-4.0 / power * n) for n in range(1, 2 * power, 2)][: num_heads - power], reverse=True
    )


@mistake(replaces="future", dimension="masking")
def future_seen(seq_len: int) -> Tensor:
    """You do not mask the future.

    There, i - j is negative, so your bias raises the scores of later keys. It must be -inf there.
    """
    return ~_ones(seq_len)


@mistake(replaces="future", dimension="masking")
def hides_itself(seq_len: int) -> Tensor:
    """You also mask the diagonal.

    No position attends to itself, and the first one attends to nothing. Check the diagonal from which your triangle
    starts.
    """
    return _ones(seq_len).triu(diagonal=0)


@mistake(replaces="future", dimension="masking")
def sees_one_ahead(seq_len: int) -> Tensor:
    """Your mask of the future starts one position too late.

    Every position attends to the one after it. In row i, column i + 1 is the first one that must be masked.
    """
    return _ones(seq_len).triu(diagonal=2)


@mistake(replaces="future", dimension="masking")
def hides_the_past(seq_len: int) -> Tensor:
    """You mask the past and show the future.

    You use the wrong triangle. Row i is the query: which columns may the first row attend to?
    """
    return _ones(seq_len).tril(diagonal=-1)


@mistake(replaces="fill", dimension="masking")
def future_at_zero() -> float:
    """You set the future to 0.

    A bias of 0 does not change a score: the future stays visible and has no penalty, unlike the past.
    """
    return 0.0


@mistake(replaces="fill", dimension="masking")
def future_at_minus_ten_thousand() -> float:
    """You fill with -10000 instead of -inf.

    This masks a position only while the other scores of the row are far above -10000.
    """
    return -1e4


@mistake(replaces="fill", dimension="masking")
def future_at_minus_a_billion() -> float:
    """You fill with -1e9 instead of -inf.

    This works for most scores. But float16 cannot represent it (its lowest number is -65504), and if all visible scores
    of a row are lower, the masked positions take the weight. The statement asks for -inf.
    """
    return -1e9


@mistake(replaces="alibi_bias", dimension="masking")
def symmetric(num_heads: int, seq_len: int) -> Tensor:
    """Your bias is the same in both directions.

    You use the distance without its sign. That is a variant for models that attend in both directions. Here the future
    must be masked.
    """
    power = 1 << (num_heads.bit_length() - 1)
    slope = [2.0 ** (-8.0 / power * n) for n in range(1, power + 1)]
    slope += [2.0 ** (-4.0 / power * n) for n in range(1, 2 * power, 2)][: num_heads - power]
    position = torch.arange(seq_len)
    return -torch.tensor(slope)[:, None, None] * (position[:, None] - position).abs()


@mistake(replaces="penalty", dimension="shapes")
def heads_last(slope: Tensor, far: Tensor) -> Tensor:
    """Your head axis is last: (T, T, h).

    The bias is added to scores of shape (B, h, T, T), so the head axis must come first.
    """
    return (-slope * far).permute(1, 2, 0)


@mistake(replaces="alibi_bias", dimension="shapes")
def with_a_batch(num_heads: int, seq_len: int) -> Tensor:
    """Your bias has an extra axis: (1, h, T, T).

    The statement asks for (h, T, T). The bias broadcasts over the batch when it is added to the scores.
    """
    return torch.zeros(1, num_heads, seq_len, seq_len)


@mistake(replaces="fill", dimension="masking")
def future_at_the_lowest_number() -> float:
    """You mask the future with the lowest finite number instead of -inf.

    A softmax gives it no weight, but adding a score can change it or make it overflow. -inf plus any finite score stays
    -inf.
    """
    return torch.finfo(torch.get_default_dtype()).min


@mistake(replaces="ratio", dimension="numerics")
def ratio_of_whole_numbers(num_heads: int) -> float:
    """You use integer division to divide 8 by the number of heads.

    For 1, 2, 4 and 8 heads the result is the same. But with 9 or more heads you need the slopes of 16 heads, and 8 //
    16 is 0, so those slopes are all 1. Look for `//`.
    """
    return 2.0 ** -(8 // num_heads)


@mistake(replaces="slopes", dimension="numerics")
def first_slopes_of_the_double(num_heads: int) -> list[float]:
    """You take the first slopes of the next power of two.

    If the number of heads is not a power of two, all slopes of the power of two below come first. Only the missing ones
    come from the power of two above: every other slope, starting with the first.
    """
    power = 2 ** (num_heads - 1).bit_length()
    return [2.0 ** (-8.0 * head / power) for head in range(1, num_heads + 1)]


@mistake(replaces="slopes", dimension="numerics")
def double_first(num_heads: int) -> list[float]:
    """You put the slopes of the next power of two first.

    The first, third, fifth, … slope of twice as many heads belong to the remaining heads, so they come last. Check the
    order in which you join the two lists.
    """
    power = 2 ** (num_heads.bit_length() - 1)
    if power == num_heads:
        return [2.0 ** (-8.0 * head / power) for head in range(1, power + 1)]
    double = [2.0 ** (-4.0 * head / power) for head in range(1, 2 * power + 1)]
    return [*double[0::2], *double[1::2]][:num_heads]


@mistake(replaces="alibi_bias", dimension="numerics")
def zero_times_infinity(num_heads: int, seq_len: int) -> Tensor:
    """You multiply a mask of zeros and ones by infinity.

    Zero times infinity is NaN, so every visible entry becomes NaN. Use `masked_fill` or `where`.
    """
    return torch.ones(num_heads, seq_len, seq_len).triu(diagonal=1) * float("-inf")
