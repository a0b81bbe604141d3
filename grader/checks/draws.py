"""Whether what was dropped looks as if every element had been drawn by itself."""

from __future__ import annotations

import math

from torch import Tensor

_TELLING = 20.0  # in powers of e: by luck alone, honest dropout looks shared once in 500 million gradings
# Of what independent draws vary; at p = 0.1 luck alone stays below it once in 10^13 for this many lines of ten.
_EVEN = 0.15
_LINES = 70


def shared_axis(dropped: Tensor, usable: Tensor, p: float) -> int | None:
    """Return an axis along which elements are dropped together, where there are enough of them to tell from chance."""
    gone, left = dropped & usable, ~dropped & usable
    for axis in range(dropped.dim()):
        mixed = gone.any(axis) & left.any(axis)
        if mixed.any():
            continue
        compared = int(usable.sum()) - int(usable.any(axis).sum())
        if compared * -math.log(max(p, 1 - p)) > _TELLING:
            return axis
    return None


def even_axis(dropped: Tensor, usable: Tensor, p: float) -> int | None:
    """Return an axis along which a fixed number of elements is dropped, where there are enough lines to tell."""
    for axis in range(dropped.dim()):
        length = dropped.shape[axis]
        spread = length * p * (1 - p)
        if spread < 0.5 or dropped.numel() < _LINES * length:
            continue
        counts = dropped.sum(axis)[usable.all(axis)].double()
        if counts.numel() >= _LINES and float((counts - length * p).square().mean()) < _EVEN * spread:
            return axis
    return None
