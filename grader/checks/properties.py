"""Properties: what attention does whatever the numbers are, seen on the submission alone; and initial weights."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import Field
from torch import Tensor

from grader.box.plan import Argument, TensorSpec
from grader.checks.compare import difference, where
from grader.checks.evidence import (
    FLOORS,
    Evidence,
    InputAxis,
    Item,
    OneOutput,
    Options,
    Work,
    base_call,
    scale_of,
    variant_call,
)
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.registry import check
from grader.exercise.spec import Dimension

_OFFSETS = (1, 4, 7)  # first, second = first + step, third = second + step
_MOVED = 1e-3  # relative; a score that depends on the distance changes by far more
_SIGMAS = 6.0  # of what is estimated from so many draws; an honest one leaves this band once in 500 million


@check("row_sums", "rows add up to one", Dimension.NUMERICS, options=OneOutput)
def judge_row_sums(item: Item, evidence: Evidence) -> Finding:
    """Every row of `output` that sees anything must add up to one.

    Those that the reference leaves without a sum of one are not looked at.
    """
    call = evidence.call(item, "base")
    slot, floor = call.output(item.given(OneOutput).output), FLOORS[call.dtype]
    truth, sums = evidence.expected_output(call, slot), evidence.output(call, slot).sum(dim=-1)
    wrong = ((truth.sum(dim=-1) - 1).abs() < floor) & ~((sums - 1).abs() <= floor)
    if not wrong.any():
        return PASSED
    index = tuple(int(i) for i in wrong.nonzero()[0])
    row = TensorSpec(slot.key, slot.axes[:-1], tuple(sums.shape))
    return failed(f"`{slot.name}` at {where(index, row)} must add up to 1; yours adds up to {float(sums[index]):.6g}")


def _permutation_work(item: Item) -> Work:
    changed: dict[str, Argument] = {}
    options = item.given(InputAxis)
    for name in options.of:
        value, axes = item.case.arguments[name], item.case.axes[name]
        if isinstance(value, Tensor):
            changed[name] = value.flip(axes.index(options.axis) - len(axes))
    return Work((base_call(item.case), variant_call(item.case, "reversed", arguments=changed)))


@check(
    "permutation",
    "order does not matter",
    Dimension.NUMERICS,
    work=_permutation_work,
    after=("base", "reversed"),
    options=InputAxis,
)
def judge_permutation(item: Item, evidence: Evidence) -> Finding:
    """With the `axis` of the inputs `of` in reverse order the output must stay, or be reordered in the same way."""
    base, other = evidence.call(item, "base"), evidence.call(item, "reversed")
    options = item.given(InputAxis)
    slot, axis = base.output(options.output), options.axis
    own, after = evidence.output(base, slot), evidence.output(other, slot)
    expected = own.flip(slot.axes.index(axis) - len(slot.axes)) if axis in slot.axes else own
    text = difference(slot.name, after, expected, bound=FLOORS[base.dtype] * (scale_of(own) or 1.0), slot=slot)
    changed = ", ".join(f"`{name}`" for name in options.of)
    return failed(f"with the {axis} of {changed} in reverse order, {text}") if text else PASSED


class ShiftOptions(Options):
    """`offset`, the argument that moves every position."""

    offset: str = Field(min_length=1)


def _shift_work(item: Item) -> Work:
    """Return calls at three offsets, the same step apart."""
    name = item.given(ShiftOptions).offset
    return Work(tuple(variant_call(item.case, f"at{offset}", arguments={name: offset}) for offset in _OFFSETS))


@check(
    "shift",
    "only the distance matters",
    Dimension.NUMERICS,
    work=_shift_work,
    after=[f"at{offset}" for offset in _OFFSETS],
    options=ShiftOptions,
)
def judge_shift(item: Item, evidence: Evidence) -> Finding:
    """Scores between two outputs must depend on how far apart their offsets are, and on nothing else about them.

    The first is scored against the second, the second against the third, and the first against the third.
    """
    calls = [evidence.call(item, f"at{offset}") for offset in _OFFSETS]
    first, second, third = (evidence.output(call, call.outputs[0]) for call in calls)
    near, moved, far = (
        one @ other.transpose(-2, -1) for one, other in ((first, second), (second, third), (first, third))
    )
    a, b, c = _OFFSETS
    size, floor = scale_of(near) or 1.0, FLOORS[calls[0].dtype]
    if not bool(((near - moved).abs() <= floor * size).all()):
        return failed(f"scores between offsets {a} and {b} must equal those between {b} and {c}; yours differ")
    if bool(((near - far).abs() <= _MOVED * size).all()):
        return failed(
            f"scores between offsets {a} and {b} must differ from those between {a} and {c}; yours are the same"
        )
    return PASSED


class InitialOptions(Options):
    """`weight`, a weight of the contract; `std`, the standard deviation with which it must begin."""

    weight: str
    std: float = Field(gt=0)
    names: ClassVar = {"weight": lambda _, part: part.weights}


@check(
    "initial",
    "initial values",
    Dimension.NUMERICS,
    work=lambda item: Work((base_call(item.case),), initial_of=(item.given(InitialOptions).weight,)),
    options=InitialOptions,
)
def judge_initial(item: Item, evidence: Evidence) -> Finding:
    """Before it is given its value the `weight` must lie around 0 with standard deviation `std`.

    Both are compared as far as so many draws can tell.
    """
    options = item.given(InitialOptions)
    name, wanted = options.weight, options.std
    built = evidence.built(evidence.call(item, "base"))
    if built is None:
        return skipped(f"because `{name}` was not found")
    mean, std = built.initial.get(name, (math.nan, math.nan))  # what is not finite does not come out of the sandbox
    if not math.isfinite(mean) or not math.isfinite(std):
        return failed(
            f"`{name}` must be initialised with standard deviation {wanted:g}; yours contains NaN or infinity"
        )
    count = next(weight.matrix.numel() for weight in item.case.weights if weight.name == name)
    over = f"over its {count} numbers, yours has"
    if abs(std / wanted - 1) > _SIGMAS / math.sqrt(2 * count):
        return failed(f"`{name}` must be initialised with standard deviation {wanted:g}; {over} {std:.3g}")
    if abs(mean) > _SIGMAS * wanted / math.sqrt(count):
        return failed(f"`{name}` must be initialised with mean 0; {over} mean {mean:.3g}")
    return PASSED


def alike(one: tuple[float, float], other: tuple[float, float], count: int) -> bool:
    """Return whether two times `count` numbers, of which mean and standard deviation are given, may be of one kind."""
    (mean, std), (other_mean, other_std) = one, other
    spread = max(std, other_std)
    near = abs(std - other_std) <= _SIGMAS * spread / math.sqrt(count)  # twice the variance of one estimate
    return near and abs(mean - other_mean) <= _SIGMAS * spread * math.sqrt(2 / count)
