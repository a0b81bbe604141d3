"""The same numbers laid out in another way: axes in another order, two axes merged into one, axes of length one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import prod

import torch
from torch import Tensor

from grader.exercise.steps import magnitude
from grader.judge.bounded import spend

_MOST = 60  # arrangements of one tensor that are tried
_MOST_AXES = 5
_HIDDEN_BY = 40.0  # a score so far below every visible one is hidden: exp(-40) is below float64's rounding of a sum


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """A tensor in another layout.

    Attributes:
        values: in the shape that was asked for.
        plain: only the order of axes has changed; else axes were merged or split as well.
        still: nothing has changed but axes of length one.
        sure: no axis was split, and no two of one size have changed their order, so it can be laid out in no other way.
    """

    values: Tensor
    plain: bool
    still: bool
    sure: bool


def arrangements(values: Tensor, shape: Sequence[int]) -> Iterator[Arrangement]:
    """Yield `values` in every way in which they may have `shape`, the plainest first, and no more than `_MOST`."""
    spend(1)
    if values.numel() == prod(shape) and max(values.dim(), len(shape)) <= _MOST_AXES:
        for one in islice(_arranged(values.squeeze(), tuple(size for size in shape if size != 1), shape), _MOST):
            spend(20 + values.numel() // 20)  # most of these are copies
            yield one


def _arranged(values: Tensor, target: tuple[int, ...], shape: Sequence[int]) -> Iterator[Arrangement]:
    if values.dim() == len(target):
        for order in _orders(values, target):
            still = order == tuple(range(values.dim()))
            yield Arrangement(
                values.permute(order).reshape(tuple(shape)), plain=True, still=still, sure=_is_sure(values, order)
            )
    split, merged = list(_split(values, target)), list(_merged(values, target))
    for other in (*split, *merged):
        sure = not split and len(set(other.shape)) == other.dim()  # an axis of six is two of three, or three of two
        for order in _orders(other, target):
            yield Arrangement(other.permute(order).reshape(tuple(shape)), plain=False, still=False, sure=sure)


def _orders(values: Tensor, target: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield each order of axes that gives the sizes `target`."""
    for order in permutations(range(values.dim())):
        if tuple(values.shape[axis] for axis in order) == target:
            yield order


def _is_sure(values: Tensor, order: tuple[int, ...]) -> bool:
    return all(
        values.shape[one] != values.shape[other] or one < other
        for place, one in enumerate(order)
        for other in order[place + 1 :]
    )


def _split(values: Tensor, target: tuple[int, ...]) -> Iterator[Tensor]:
    """Yield `values` with one axis split into two that `target` has: heads out of features, or out of a batch."""
    if values.dim() == len(target) - 1:
        pairs = dict.fromkeys(permutations(target, 2))
        for axis, size in enumerate(values.shape):
            sizes = values.shape
            yield from (values.reshape(sizes[:axis] + pair + sizes[axis + 1 :]) for pair in pairs if prod(pair) == size)


def _merged(values: Tensor, target: tuple[int, ...]) -> Iterator[Tensor]:
    """Yield `values` with two axes merged into one that `target` has."""
    if values.dim() == len(target) + 1:
        for first, second in permutations(range(values.dim()), 2):
            if values.shape[first] * values.shape[second] in target:
                yield values.movedim((first, second), (0, 1)).flatten(0, 1)


def same(values: Tensor, truth: Tensor, tolerance: float) -> bool:
    """Return whether two tensors of one shape agree.

    Args:
        values: what is looked at; where `truth` is -inf, anything far below all that is visible will do.
        truth: what it is held against.
        tolerance: relative to the largest finite magnitude of `truth`.
    """
    spend(50 + truth.numel() // 50)
    hidden = truth == -torch.inf
    if bool(hidden.any()) and not bool(hidden.all()):
        visible = values[~hidden]
        if bool(visible.isfinite().any()):
            least = visible[visible.isfinite()].min()
            values = values.masked_fill(hidden & (values <= least - _HIDDEN_BY), -torch.inf)
    allowed = tolerance * magnitude(truth)
    return torch.allclose(values, truth, rtol=0.0, atol=allowed, equal_nan=True)


def matches(
    values: Tensor, truth: Tensor, tolerance: float, *, sure: bool = False, total: float | None = None
) -> Arrangement | None:
    """Return the arrangement in which `values` are `truth`, None if there is none; a `sure` one if asked for.

    `total` is the sum of `values`, where it is known already.
    """
    if values.numel() != truth.numel() or not may_be(values, truth, tolerance, total):
        return None
    ways = (way for way in arrangements(values, truth.shape) if way.sure or not sure)
    return next((way for way in ways if same(way.values, truth, tolerance)), None)


def may_be(values: Tensor, truth: Tensor, tolerance: float, known: float | None = None) -> bool:
    """Return whether the sums agree, which no layout changes; it spares most comparisons."""
    spend(30 + truth.numel() // 100)
    total = float(truth.sum())
    if total != total or total in (torch.inf, -torch.inf):
        return True
    own = float(values.sum()) if known is None else known
    return abs(own - total) <= truth.numel() * (tolerance * magnitude(truth) + 1e-300)
