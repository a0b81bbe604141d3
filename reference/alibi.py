"""ALiBi: a bias that grows with the distance, with a slope per head.

Notation: h heads, T tokens; row i is a query, column j a key.
Source: Press, Smith, Lewis, Train Short, Test Long (2022), section 3, arXiv:2108.12409; for numbers of heads that are
no power of two, the code published with it.
"""

from __future__ import annotations

import torch
from torch import Tensor


def ratio(num_heads: int) -> float:
    """Return the ratio of the slopes of `num_heads` heads, a power of two."""
    return 2.0 ** (-8.0 / num_heads)


def sequence(num_heads: int) -> list[float]:
    """Return the slopes of `num_heads` heads, a power of two: ratio¹, ratio² and so on."""
    return [ratio(num_heads) ** power for power in range(1, num_heads + 1)]


def power_below(num_heads: int) -> int:
    """Return the largest power of two that is at most `num_heads`."""
    return int(2 ** (num_heads.bit_length() - 1))


def between(power: int, count: int) -> list[float]:
    """Return the first `count` of every other slope of 2 * `power` heads."""
    return sequence(2 * power)[0::2][:count]


def slopes(num_heads: int) -> list[float]:
    """Return a slope for each head, whatever their number."""
    power = power_below(num_heads)
    return sequence(power) + between(power, num_heads - power)


def distance(seq_len: int) -> Tensor:
    """Return i - j, how far column j lies before row i, (T, T)."""
    position = torch.arange(seq_len)
    return position[:, None] - position[None, :]


def future(seq_len: int) -> Tensor:
    """Return True where column j lies in the future of row i, (T, T)."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool).triu(diagonal=1)


def fill() -> float:
    """Return the value that masks a position."""
    return float("-inf")


def penalty(slope: Tensor, far: Tensor) -> Tensor:
    """Return the penalty on each score: the slopes (h, 1, 1) times the distances (T, T), (h, T, T)."""
    return -slope * far


def alibi_bias(num_heads: int, seq_len: int) -> Tensor:
    """Return the bias that is added to the scores, (h, T, T)."""
    slope = torch.tensor(slopes(num_heads))[:, None, None]
    return penalty(slope, distance(seq_len)).masked_fill(future(seq_len), fill())
