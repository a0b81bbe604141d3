"""Properties: what attention does whatever the numbers are. They are seen on the submission's own outputs alone."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from grader.box.plan import Argument, TensorSpec
from grader.checks.compare import difference, where
from grader.checks.evidence import FLOORS, Evidence, Item, Work, base_call, scale_of, variant_call
from grader.checks.finding import PASSED, Finding, failed
from grader.errors import AuthorError
from grader.exercise.spec import Dimension

_OFFSETS = (1, 4, 7)  # first, second = first + step, third = second + step
_MOVED = 1e-3  # relative; a score that depends on the distance changes by far more


class RowSums:
    """Every row of `output` that sees anything adds up to one."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "rows add up to one"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Add up each row; those that the reference leaves without a sum of one are not looked at."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        slot = call.output(item.spec.output)
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


class Permutation:
    """The order of `axis` in the inputs `of` does not matter: the output stays, or is reordered in the same way."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "order does not matter"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once more, with one axis reversed.

        Raises:
            AuthorError: an option is left out.
        """
        if not all((item.spec.of, item.spec.axis, item.spec.output)):
            raise AuthorError("check `permutation` needs `of`, `axis` and `output`")
        return Work((base_call(item.case), variant_call(item.case, "reversed", arguments=_reversed(item))))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare the two outputs of the submission."""
        base, other = evidence.call(item, "base"), evidence.call(item, "reversed")
        for call in (base, other):
            if (problem := evidence.problem(call)) is not None:
                return problem
        slot, axis = base.output(item.spec.output), item.spec.axis
        own, after = evidence.output(base, slot), evidence.output(other, slot)
        expected = own.flip(slot.axes.index(axis) - len(slot.axes)) if axis in slot.axes else own
        text = difference(slot.name, after, expected, bound=FLOORS[base.dtype] * (scale_of(own) or 1.0), slot=slot)
        changed = ", ".join(f"`{name}`" for name in item.spec.of)
        return failed(f"with the {axis} of {changed} in reverse order, {text}") if text else PASSED


class Shift:
    """Scores between two outputs depend on how far apart their offsets are, and on nothing else about them.

    Option: `offset`, the argument that moves every position.
    """

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "only the distance matters"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call at three offsets, the same step apart.

        Raises:
            AuthorError: `offset` is left out.
        """
        if not item.spec.offset:
            raise AuthorError("check `shift` needs `offset`, the argument that moves every position")
        moved = ((f"at{offset}", {item.spec.offset: offset}) for offset in _OFFSETS)
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
    for name in item.spec.of:
        value, axes = item.case.arguments[name], item.case.axes[name]
        if isinstance(value, torch.Tensor):
            changed[name] = value.flip(axes.index(item.spec.axis) - len(axes))
    return changed
