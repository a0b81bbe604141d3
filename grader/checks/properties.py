"""Properties: what attention does whatever the numbers are, seen on the submission alone."""

from __future__ import annotations

import math

from torch import Tensor

from grader.box.plan import Argument, TensorSpec
from grader.checks.compare import difference, where
from grader.checks.evidence import (
    FLOORS,
    Evidence,
    InputAxis,
    Item,
    OneOutput,
    Work,
    base_call,
    scale_of,
    variant_call,
)
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.exercise.spec import Dimension

SIGMAS = 6.0  # of what is estimated from so many draws; an honest one leaves this band once in 500 million


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


def alike(one: tuple[float, float], other: tuple[float, float], count: int) -> bool:
    """Return whether two times `count` numbers, of which mean and standard deviation are given, may be of one kind."""
    (mean, std), (other_mean, other_std) = one, other
    spread = max(std, other_std)
    near = abs(std - other_std) <= SIGMAS * spread / math.sqrt(count)  # twice the variance of one estimate
    return near and abs(mean - other_mean) <= SIGMAS * spread * math.sqrt(2 / count)
