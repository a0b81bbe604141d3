"""Compares two tensors element by element, and says where they differ first, and what gives NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from grader.box.plan import TensorSpec

_WHAT_GIVES_IT = "0 / 0, 0 · ∞, ∞ / ∞ and ∞ - ∞ give NaN"
_IN_ROWS = f"{_WHAT_GIVES_IT}, and so does a softmax over a row in which every score is -inf, or one is +inf"


def same(seen: Tensor, expected: Tensor) -> bool:
    """Return whether two tensors of one shape are equal to the last bit: then nobody needs to know what may differ."""
    return seen.dtype == expected.dtype and torch.equal(seen, expected)


def wrong_elements(seen: Tensor, expected: Tensor, bound: float) -> Tensor:
    """Return which elements differ by over `bound`, as bools; equal infinities do not, and NaN always does."""
    seen, expected = seen.double(), expected.double()
    return ~(((seen - expected).abs() <= bound) | (seen == expected))


def difference(label: str, seen: Tensor, expected: Tensor, *, bound: float, slot: TensorSpec) -> str:
    """Return where and by how much `seen` differs from `expected`; empty where no element differs by over `bound`.

    Infinite elements must be equal; NaN equals nothing, and its likely cause is told. Both have the slot's shape.
    """
    seen, expected = seen.double(), expected.double()
    if seen.numel() and float(torch.linalg.vector_norm(seen - expected, math.inf)) <= bound:
        return ""
    wrong = wrong_elements(seen, expected, bound)
    count = int(wrong.sum())
    if not count:
        return ""
    index = _worst(seen, expected, wrong)
    got, want = float(seen[index]), float(expected[index])
    text = f"`{label}` at {where(index, slot)}: expected {want:.6g}, got {got:.6g}"
    if abs(got - want) < 1e-3 * max(abs(want), 1e-300):
        text = f"`{label}` at {where(index, slot)}: expected {want:.12g}, got {got:.12g}"
    if cause := cause_of_nan(seen, expected):
        return f"{text}; {cause}"
    text += f" (allowed difference {bound:.1g}); {count} of {seen.numel()} numbers differ"
    return text + _ratio(seen, expected)


def hides(tensor: Tensor) -> bool:
    """Return whether an element is -inf, as in a mask that is added to scores."""
    lowest = float(tensor.min()) if tensor.numel() else 0.0
    return lowest == -math.inf or (math.isnan(lowest) and bool((tensor == -math.inf).any()))


def where(index: tuple[int, ...], slot: TensorSpec) -> str:
    """Return `(batch 0, time 3)`: an index under its axis names; leading axes without a name are bare numbers."""
    return named(slot.axes, index)


def named(axes: tuple[str, ...], numbers: tuple[int, ...]) -> str:
    """Return numbers, indices or sizes, under axis names; `...` stands for any leading axes."""
    names = [axis for axis in axes if axis != "..."]
    if len(names) > len(numbers) or (len(names) < len(numbers) and "..." not in axes):
        return str(numbers)
    # An axis that is called by its size, `1`, has no name to say.
    spoken = ["" if name.isdigit() else f"{name} " for name in names]
    labels = [""] * (len(numbers) - len(names)) + spoken
    return "(" + ", ".join(f"{label}{number}" for label, number in zip(labels, numbers, strict=True)) + ")"


def axis_name(names: tuple[str, ...], axis: int, dim: int) -> str:
    """Return the name of an axis; leading axes, `...`, have numbers."""
    from_the_end = axis - dim
    named = -from_the_end <= len(names) and names[from_the_end] != "..."
    return names[from_the_end] if named else f"axis {axis}"


def _worst(seen: Tensor, expected: Tensor, wrong: Tensor) -> tuple[int, ...]:
    """Return the first element that is not finite where it should be, else the one that is furthest off."""
    broken = wrong & ~torch.isfinite(seen)
    if broken.any():
        flat = int(broken.flatten().to(torch.uint8).argmax())
    else:
        flat = int(torch.where(wrong, (seen - expected).abs(), -1.0).nan_to_num(0.0).flatten().argmax())
    return index_of(flat, seen.shape)


def index_of(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the index of an element by its number; `torch.unravel_index` imports half a second of symbolic algebra."""
    index: list[int] = []
    for size in reversed(shape):
        number, place = divmod(number, size)
        index.append(place)
    return tuple(reversed(index))


def _ratio(seen: Tensor, expected: Tensor) -> str:
    """Return a remark where all of `seen` is one multiple of `expected`."""
    usable = expected.abs() > 1e-6 * expected.abs().max()
    ratios = (seen / expected)[usable & torch.isfinite(seen) & torch.isfinite(expected)]
    if ratios.numel() < 2 or not bool(torch.isfinite(ratios).all()):
        return ""
    factor = float(ratios.median())
    if factor == 0.0 or abs(factor - 1) < 1e-3 or float((ratios - factor).abs().max()) > 1e-6 * abs(factor):
        return ""
    return f"; all your values are {factor:.4g} times the expected ones"


def cause_of_nan(seen: Tensor, expected: Tensor) -> str:
    """Return which numbers of `seen` are NaN where `expected` is not, and what gives NaN; empty for none."""
    broken = seen.isnan() & ~expected.isnan()
    if not broken.any():
        return ""
    if broken.dim() < 2:
        return f"{_share(broken, 'numbers')} NaN: {_IN_ROWS}"
    if broken.all():
        return f"all of it is NaN: {_IN_ROWS}"
    rows = broken.all(dim=-1)
    if not (rows == broken.any(dim=-1)).all():
        return f"{_share(broken, 'numbers')} NaN, not whole rows: {_WHAT_GIVES_IT}"
    if rows.dim() < 2:
        return f"{_share(rows, 'rows')} NaN: {_IN_ROWS}"
    tables = rows.flatten(0, -2)
    where = "the same" if (tables == tables[0]).all() else "different ones"
    return f"{_share(rows, 'rows')} NaN, {where} in each matrix: {_IN_ROWS}"


def _share(broken: Tensor, what: str) -> str:
    count = int(broken.sum())
    return f"{count} of {broken.numel()} {what} {'is' if count == 1 else 'are'}"
