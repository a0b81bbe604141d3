"""Tensors that lie one after the other in a row of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from torch import Tensor


def tensors_in(row: Tensor, shapes: Iterable[tuple[int, ...]]) -> list[Tensor]:
    """Return tensors of these shapes, the first from the first number of `row` on; they lie in the memory of `row`."""
    found, start = [], 0
    for shape in shapes:
        strides, count = _layout(shape)
        found.append(row.as_strided(shape, strides, start))
        start += count
    return found


@lru_cache(maxsize=1000)
def _layout(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Return the strides of a contiguous tensor of this shape, and how many numbers it has."""
    strides, count = [], 1
    for size in reversed(shape):
        strides.append(count)
        count *= size
    return tuple(reversed(strides)), count
