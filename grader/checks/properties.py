"""Properties: what attention does whatever the numbers are. They are seen on the submission's own outputs alone."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from grader.box.plan import Argument, TensorSpec
from grader.checks.compare import difference, where
from grader.checks.evidence import FLOORS, Check, Evidence, Item, Work, base_call, scale_of, variant_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.options import InputAxis, OneOutput, Options
from grader.exercise.spec import Dimension

_OFFSETS = (1, 4, 7)  # first, second = first + step, third = second + step
_MOVED = 1e-3  # relative; a score that depends on the distance changes by far more


class RowSums(Check):
    """Every row of `output` that sees anything adds up to one."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "rows add up to one"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = OneOutput

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Add up each row; those that the reference leaves without a sum of one are not looked at."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        slot = call.output(item.given(OneOutput).output)
        truth, floor = evidence.truth(call, slot.key), FLOORS[call.dtype]
        assert truth is not None
        sums = evidence.output(call, slot).sum(dim=-1)
        wrong = ((truth.sum(dim=-1) - 1).abs() < floor) & ~((sums - 1).abs() <= floor)
        if not wrong.any():
            return PASSED
        index = tuple(int(i) for i in wrong.nonzero()[0])
        row = TensorSpec(slot.key, slot.axes[:-1], tuple(sums.shape))
        return failed(
            f"`{slot.name}` at {where(index, row)} must add up to 1; yours adds up to {float(sums[index]):.6g}"
        )


class Permutation(Check):
    """The order of `axis` in the inputs `of` does not matter: the output stays, or is reordered in the same way."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "order does not matter"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = InputAxis

    def work(self, item: Item) -> Work:
        """Call once more, with one axis reversed."""
        return Work((base_call(item.case), variant_call(item.case, "reversed", arguments=_reversed(item))))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare the two outputs of the submission."""
        base, other = evidence.call(item, "base"), evidence.call(item, "reversed")
        options = item.given(InputAxis)
        for call in (base, other):
            if (problem := evidence.problem(call)) is not None:
                return problem
        slot, axis = base.output(options.output), options.axis
        own, after = evidence.output(base, slot), evidence.output(other, slot)
        expected = own.flip(slot.axes.index(axis) - len(slot.axes)) if axis in slot.axes else own
        text = difference(slot.name, after, expected, bound=FLOORS[base.dtype] * (scale_of(own) or 1.0), slot=slot)
        changed = ", ".join(f"`{name}`" for name in options.of)
        return failed(f"with the {axis} of {changed} in reverse order, {text}") if text else PASSED


class ShiftOptions(Options):
    """`offset`, the argument that moves every position."""

    offset: str = Field(min_length=1)


class Shift(Check):
    """Scores between two outputs depend on how far apart their offsets are, and on nothing else about them."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "only the distance matters"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = ShiftOptions

    def work(self, item: Item) -> Work:
        """Call at three offsets, the same step apart."""
        name = item.given(ShiftOptions).offset
        moved = ((f"at{offset}", {name: offset}) for offset in _OFFSETS)
        return Work(tuple(variant_call(item.case, variant, arguments=arguments) for variant, arguments in moved))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Score first against second, second against third, and first against third."""
        outputs = []
        for offset in _OFFSETS:
            call = evidence.call(item, f"at{offset}")
            if (problem := evidence.problem(call)) is not None:
                return problem
            outputs.append(evidence.output(call, call.outputs[0]))
        first, second, third = outputs
        near, moved, far = (_scores(*pair) for pair in ((first, second), (second, third), (first, third)))
        a, b, c = _OFFSETS
        size, floor = scale_of(near) or 1.0, FLOORS[evidence.call(item, f"at{a}").dtype]
        if not bool(((near - moved).abs() <= floor * size).all()):
            return failed(f"scores between offsets {a} and {b} must equal those between {b} and {c}; yours differ")
        if bool(((near - far).abs() <= _MOVED * size).all()):
            return failed(
                f"scores between offsets {a} and {b} must differ from those between {a} and {c}; yours are the same"
            )
        return PASSED


def _scores(one: Tensor, other: Tensor) -> Tensor:
    return one @ other.transpose(-2, -1)


def _reversed(item: Item) -> dict[str, Argument]:
    changed: dict[str, Argument] = {}
    options = item.given(InputAxis)
    for name in options.of:
        value, axes = item.case.arguments[name], item.case.axes[name]
        if isinstance(value, torch.Tensor):
            changed[name] = value.flip(axes.index(options.axis) - len(axes))
    return changed
