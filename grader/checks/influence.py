"""Influence: which places of the output move when one place of the inputs does, and which must not.

Tested by perturbation: one index of one axis of the inputs is changed, and the outputs that move are compared with
those that move in the reference. So a leak is found however it comes about, and so is an answer that sees too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from grader.box.keys import BASE, variant_of
from grader.box.plan import Argument, Call
from grader.checks.evidence import FLOORS, Check, Evidence, Item, Work, base_call, scale_of, variant_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.numerics import unsteady
from grader.checks.options import InputAxis, misspelt
from grader.checks.traits import Trait
from grader.checks.undefined import cause_of_nan
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension, PartSpec

# Relative to the dtype's floor (1e-9 in float64): a reference that stands still moves by less than `_STILL`; an answer
# that moves there by more than `_MOVED` leaks, if rounding does not; the reference's `_CLEAR` moves must show.
_STILL, _MOVED, _CLEAR = 1e-4, 1e-3, 1e3
_ROUNDING = 30  # in units of the last digit, where a hidden score takes part in a shift that cancels


class InfluenceOptions(InputAxis):
    """`axis` of the inputs `of` is stepped through; up to the axis `rows` of `output`, positions are told apart."""

    rows: str

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare all four with what goes in and comes out."""
        yield from super().unknown(part)
        output = part.returns.get(self.output)
        yield from misspelt("rows", (self.rows,), output.axes if output else ())


class Bounds(NamedTuple):
    """Changes of an output: less than `still` is none, more than `moved` is one, more than `clear` must be seen."""

    still: float
    moved: float
    clear: float

    @classmethod
    def of(cls, dtype: str, scale: float) -> Bounds:
        """Return those for an output of a dtype, whose largest magnitude is `scale`."""
        floor, digit = FLOORS[dtype], torch.finfo(getattr(torch, dtype)).eps
        return cls(_STILL * floor * scale, max(_MOVED * floor, _ROUNDING * digit) * scale, _CLEAR * floor * scale)


class Influence(Check):
    """The same outputs move as in the reference when one index of `axis` changes in the inputs `of`."""

    dimension: ClassVar = Dimension.MASKING
    title: ClassVar[str] = "attention pattern"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = InfluenceOptions
    traits: ClassVar = frozenset({Trait.SHOWS_INFLUENCE})

    def work(self, item: Item) -> Work:
        """Call once per index of the axis, each time with that index changed."""
        changed = (
            variant_call(item.case, variant, arguments=_changed(item, index))
            for index, variant in enumerate(_variants(item))
        )
        return Work((base_call(item.case), *changed))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare who moved with who should have."""
        for call in _calls(item, evidence):
            if (problem := evidence.problem(call)) is not None:
                return problem
        seen, expected, scale = influence(item, evidence)
        if text := _undefined(item, evidence, seen):
            return failed(text, besides=True)
        bounds = Bounds.of(evidence.call(item, "base").dtype, scale)
        leaks = (seen > bounds.moved) & (expected < bounds.still)
        blind = (seen < bounds.moved) & (expected > bounds.clear)
        if leaks.any():
            drawn = unsteady(evidence)
            return failed(drawn or _leak(item, seen, leaks), besides=bool(drawn) or _is_its_own(item, leaks))
        if blind.any() and not unsteady(evidence):  # what dropout hides in some places is no wrong pattern
            return failed(_blindness(item, blind), besides=True)
        return PASSED


def _is_its_own(item: Item, leaks: Tensor) -> bool:
    """Return whether nothing moves but what may see the change, and must stand still all the same.

    That is a query's own output where it has one key to see. A row of shares changes as a whole, since they add up to
    one, and must come to what it was.
    """
    options, own = item.given(InfluenceOptions), torch.eye(*leaks.shape[-2:], dtype=torch.bool)
    if all(name in item.case.shares for name in options.of):
        return True
    is_query = tuple(options.of) == ("query",) and options.rows == options.axis
    return is_query and not bool((leaks & ~own).any())


def _undefined(item: Item, evidence: Evidence, moved: Tensor) -> str:
    """Return that the output is NaN, before or after a change: it says nothing then of who sees whom."""
    if not moved.isnan().any():
        return ""
    for call in _calls(item, evidence):
        slot = call.output(item.given(InfluenceOptions).output)
        truth = evidence.truth(call, slot.key)
        assert truth is not None
        if cause := cause_of_nan(evidence.output(call, slot), truth):
            after = "" if variant_of(call.name) == BASE else f"after {_what(item)} was changed, "
            return f"{after}`{slot.name}` contains NaN, so its attention pattern cannot be checked: {cause}"
    return ""


def influence(item: Item, evidence: Evidence) -> tuple[Tensor, Tensor, float]:
    """Return how far each position moved at each perturbation: (…, rows, indices), the student's and the expected.

    Also returns the scale of the expected output. The calls had no problem.
    """
    return evidence.once(("influence", item), lambda: _influence(item, evidence))


def _influence(item: Item, evidence: Evidence) -> tuple[Tensor, Tensor, float]:
    calls, options = _calls(item, evidence), item.given(InfluenceOptions)
    slot = calls[0].output(options.output)
    keep = slot.axes.index(options.rows) - len(slot.axes) + 1  # axes behind the rows, as a negative count
    seen = [evidence.output(call, slot) for call in calls]
    expected = [tensor for call in calls if (tensor := evidence.truth(call, slot.key)) is not None]
    moved = _movements(torch.stack([*seen, *expected]).view(2, len(seen), *seen[0].shape), keep)
    return moved[0], moved[1], scale_of(expected[0]) or 1.0


def _movements(outputs: Tensor, keep: int) -> Tensor:
    """Return the largest change of each position, over the last `-keep` axes; equal infinities have not moved."""
    before, after = outputs[:, :1], outputs[:, 1:]  # of the plain call, and of those with a change each
    change = torch.where(after == before, 0.0, (after - before).abs())
    return (change.flatten(keep).amax(dim=-1) if keep < 0 else change).movedim(1, -1)


def _calls(item: Item, evidence: Evidence) -> list[Call]:
    """Return the plain call, and then those with one index changed."""
    return evidence.once(
        ("calls", item), lambda: [evidence.call(item, variant) for variant in (BASE, *_variants(item))]
    )


def _variants(item: Item) -> list[str]:
    """Return a name for each index of the axis."""
    options = item.given(InfluenceOptions)
    first = item.case.arguments[options.of[0]]
    assert isinstance(first, Tensor)
    size = first.shape[_axis(item.case, options.of[0], options.axis)]
    return [f"{'+'.join(options.of)}@{options.axis}{index}" for index in range(size)]


def _changed(item: Item, index: int) -> dict[str, Argument]:
    """Return the inputs `of` with one index of the axis changed."""
    changed: dict[str, Argument] = {}
    options = item.given(InfluenceOptions)
    for name in options.of:
        value = item.case.arguments[name]
        assert isinstance(value, Tensor)
        axis = _axis(item.case, name, options.axis)
        changed[name] = _other_shares(value, axis, index) if name in item.case.shares else _other(value, axis, index)
    return changed


def _other(value: Tensor, axis: int, index: int) -> Tensor:
    """Return `value` with one index of an axis changed; anything clearly different will do."""
    value = value.clone()
    part = value.select(axis, index)
    if value.is_floating_point():
        part.mul_(-2.0).add_(1.0)
    else:
        tokens = int(value.max()) + 1
        part.add_(1).remainder_(tokens)  # another one of those that there are
    return value


def _other_shares(value: Tensor, axis: int, index: int) -> Tensor:
    """Return rows that still add up to one: each gives half of all it has to one index, or one index is turned round.

    Those that give keep their proportions, so an output that looks at them alone stands still.
    """
    if axis == -1:
        value = value / 2
        value.select(axis, index).add_(0.5)
        return value
    value = value.clone()
    value.select(axis, index).copy_(value.select(axis, index).roll(1, dims=-1))
    return value


def _axis(case: Case, name: str, axis: str) -> int:
    """Return an axis of an input by name, counted from the end because of leading axes."""
    axes = case.axes[name]
    return axes.index(axis) - len(axes)


def _leak(item: Item, seen: Tensor, leaks: Tensor) -> str:
    options = item.given(InfluenceOptions)
    *_, row, index = (int(i) for i in leaks.nonzero()[0])
    amount = float(seen[leaks].amax())
    pairs = int(leaks.flatten(0, -3).any(0).sum()) if leaks.dim() > 2 else int(leaks.sum())
    return (
        f"changing {_what(item)} at {options.axis} {index} must not change `{options.output}` at "
        f"{options.rows} {row}; yours changes by up to {amount:.3g}. "
        f"{pairs} such pair{'s' if pairs > 1 else ''} in all"
    )


def _what(item: Item) -> str:
    """Return the inputs that are changed, in words."""
    return " and ".join(f"`{name}`" for name in item.given(InfluenceOptions).of)


def _blindness(item: Item, blind: Tensor) -> str:
    options = item.given(InfluenceOptions)
    *_, row, index = (int(i) for i in blind.nonzero()[0])
    pairs = int(blind.flatten(0, -3).any(0).sum()) if blind.dim() > 2 else int(blind.sum())
    return (
        f"changing {_what(item)} at {options.axis} {index} must change `{options.output}` at "
        f"{options.rows} {row}, which attends to it; yours does not change. "
        f"{pairs} such pair{'s' if pairs > 1 else ''} in all"
    )
