"""Whether what was dropped looks as if every element had been drawn by itself."""

from __future__ import annotations

import math

import torch
from torch import Tensor

_TELLING = 20.0  # in powers of e: by luck alone, honest dropout looks shared once in 500 million gradings
# Of what independent draws vary; at p = 0.1 luck alone stays below it once in 10^13 for this many lines of ten.
_EVEN = 0.15
_LINES = 70


def spared_index(dropped: Tensor, usable: Tensor, p: float) -> tuple[int, int] | None:
    """Return an axis, and an index along it at which no call drops anything, if that is no chance.

    `dropped` holds several calls, (call, ...), and `usable` one of them.
    """
    certain = _TELLING / -math.log(max(1 - p, 1e-9))  # so many elements
    for axis, length in enumerate(usable.shape):
        gone = (dropped & usable).any(0).transpose(0, axis).reshape(length, -1).any(1)
        drawn = len(dropped) * usable.transpose(0, axis).reshape(length, -1).sum(1)
        spared = ~gone & (drawn > certain)
        if spared.any() and not spared.all():
            return axis, int(spared.double().argmax())
    return None


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


def paired_elements(dropped: Tensor, usable: Tensor, p: float) -> tuple[int, ...] | None:
    """Return how far apart, along each axis, elements lie that are drawn together or against each other.

    For every distance the products of what two elements so far apart deviate from p are added up. Independent draws
    make that sum deviate from zero by more than Bernstein's inequality allows as seldom as `_TELLING` says, whatever
    the number of distances.
    """
    deviation = torch.where(usable, dropped.double() - p, 0.0)
    sums, pairs = _correlated(deviation), _correlated(usable.double())
    varies, largest = (p * (1 - p)) ** 2, max(p, 1 - p) ** 2
    surprise = sums.square() / 2 / (pairs * varies + sums.abs() * largest / 3).clamp(min=varies)
    surprise.view(-1)[0] = 0.0  # each element with itself
    found = int(surprise.argmax())
    if float(surprise.view(-1)[found]) <= _TELLING + math.log(surprise.numel()):
        return None
    place = [int(at) for at in torch.unravel_index(torch.tensor(found), surprise.shape)]
    apart = tuple(at if 2 * at < size else at - size for at, size in zip(place, surprise.shape, strict=True))
    return max(apart, tuple(-far for far in apart))  # from the earlier one to the later one


def _correlated(x: Tensor) -> Tensor:
    """Return for every distance the sum of the products of two elements of `x` so far apart; the last are negative."""
    sizes = [2 * size for size in x.shape]  # room for every distance, so that none wraps around
    spectrum = torch.fft.rfftn(x, s=sizes)
    sums: Tensor = torch.fft.irfftn(spectrum.abs().square(), s=sizes)
    return sums
