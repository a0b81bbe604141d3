"""Where tensors lie that stand one after the other in a row of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from torch import Tensor

Shape = tuple[int, ...]


class TensorPlace(NamedTuple):
    """Where a tensor lies: what `as_strided` asks for."""

    shape: Shape
    strides: Shape
    start: int


class TensorRow(NamedTuple):
    """The places of some tensors, and how many numbers they have together."""

    places: tuple[TensorPlace, ...]
    size: int

    def cut(self, numbers: Tensor) -> list[Tensor]:
        """Return the tensors; they lie in the memory of `numbers`, which has one dimension."""
        return [numbers.as_strided(shape, strides, start) for shape, strides, start in self.places]


@lru_cache(maxsize=500)
def row_of(shapes: tuple[Shape, ...]) -> TensorRow:
    """Return where tensors of these shapes lie."""
    places, start = [], 0
    for shape in shapes:
        strides, count = [], 1
        for length in reversed(shape):
            strides.append(count)
            count *= length
        places.append(TensorPlace(shape, tuple(reversed(strides)), start))
        start += count
    return TensorRow(tuple(places), start)
