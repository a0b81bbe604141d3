"""Says in what way tensors differ from those that they should be, where that can be told with certainty."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from grader.judge.arrangements import same

Pairs = Sequence[tuple[Tensor, Tensor]]  # the student's tensor and the reference's, of one shape


def difference(pairs: Pairs, tolerance: float) -> str:
    """Return how the first of each pair differs from the second, as the end of a sentence about them; often nothing."""
    ways = (_nan, _factor, _offset, _exchanged, _hidden, _sums, _elsewhere)
    for way in ways:
        said = {way(values, truth, tolerance) for values, truth in pairs}
        if len(said) == 1 and (text := said.pop()):
            return text
    return ""


def _nan(values: Tensor, truth: Tensor, tolerance: float) -> str:
    return "hold NaN" if bool(values.isnan().any()) and not bool(truth.isnan().any()) else ""


def _factor(values: Tensor, truth: Tensor, tolerance: float) -> str:
    used = truth.isfinite() & (truth != 0)
    if int(used.sum()) < 3:
        return ""
    largest = truth[used].abs().argmax()
    factor = float(values[used][largest] / truth[used][largest])
    if factor in (0.0, 1.0) or factor != factor or not same(values, truth * factor, tolerance):
        return ""
    few = f"{factor:.4g}"
    return f"are {factor:.10g} times the reference's" if few == "1" else f"are {few} times the reference's"


def _offset(values: Tensor, truth: Tensor, tolerance: float) -> str:
    used = truth.isfinite()
    if int(used.sum()) < 3:
        return ""
    offset = float((values - truth)[used].median())
    if offset == 0 or offset != offset or not same(values, truth + offset, tolerance):
        return ""
    return f"are each {abs(offset):.4g} {'more' if offset > 0 else 'less'} than the reference's"


def _exchanged(values: Tensor, truth: Tensor, tolerance: float) -> str:
    if truth.dim() < 2 or truth.shape[-1] != truth.shape[-2] or not same(values.transpose(-2, -1), truth, tolerance):
        return ""
    return "are transposed"


def _hidden(values: Tensor, truth: Tensor, tolerance: float) -> str:
    """Say that all that is wrong is which places are hidden, by -inf in scores or by 0 in weights."""
    hides = -torch.inf if bool((truth == -torch.inf).any()) else 0.0
    hidden, hides_too = truth == hides, values == hides
    if not bool(hidden.any()) and not (hides_too & ~hidden).any():
        return ""
    name = "-inf" if hides else "0"
    elsewhere = same(values.masked_fill(hidden | hides_too, 0.0), truth.masked_fill(hidden | hides_too, 0.0), tolerance)
    shown, lost = int((hidden & ~hides_too).sum()), int((hides_too & ~hidden).sum())
    if not elsewhere or not (shown or lost):
        return ""
    said = [f"differ in {shown} of the {int(hidden.sum())} places that must be {name}"] if shown else []
    said += [f"are {name} in {lost} places that must not be"] if lost else []
    return " and ".join(said) + ", and are right everywhere else"


def _sums(values: Tensor, truth: Tensor, tolerance: float) -> str:
    """Say along which axis weights add up to one, if not along the last."""
    if truth.dim() < 2 or not _adds_up(truth, -1, tolerance) or _adds_up(values, -1, tolerance):
        return ""
    axes = [
        axis for axis in range(-2, -truth.dim() - 1, -1) if truth.shape[axis] > 1 and _adds_up(values, axis, tolerance)
    ]
    if axes:
        name = "down each column (axis -2)" if axes[0] == -2 else f"along axis {axes[0]}"
        return f"add up to one {name}, and not along each row (the last axis)"
    return "do not add up to one along each row (the last axis), as the reference's do"


def _adds_up(values: Tensor, axis: int, tolerance: float) -> bool:
    sums = values.sum(axis)
    return bool((values >= 0).all()) and torch.allclose(
        sums, torch.ones_like(sums), rtol=0.0, atol=max(tolerance, 1e-9) * 10
    )


def _elsewhere(values: Tensor, truth: Tensor, tolerance: float) -> str:
    return "are the reference's numbers in different places" if is_rearranged(values, truth, tolerance) else ""


def is_rearranged(values: Tensor, truth: Tensor, tolerance: float = 1e-9) -> bool:
    """Return whether two tensors hold the same numbers, in whatever places."""
    return same(values.flatten().sort().values, truth.flatten().sort().values, tolerance)
