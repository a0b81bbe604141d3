"""Masking: what is masked is hidden, in the mask, in the weights, and where its score is the highest of all.

Who sees whom is tested by perturbation: one index of one axis of the inputs is changed, and the outputs that move are
compared with those that move in the reference. So a leak is found however it comes about, and so is an answer that
sees too little.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from grader.box.keys import BASE, variant_of
from grader.box.observations import Observations
from grader.box.plan import Argument, Call, TensorSpec
from grader.checks.compare import cause_of_nan, difference, hides, where
from grader.checks.evidence import (
    FLOORS,
    Evidence,
    InputAxis,
    Item,
    OneOutput,
    Trait,
    Work,
    base_call,
    scale_of,
    variant_call,
)
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.checks.values import plain_calls, unsteady
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

# Relative to the dtype's floor (1e-9 in float64): a reference that stands still moves by less than `_STILL`; an answer
# that moves there by more than `_MOVED` leaks, if rounding does not; the reference's `_CLEAR` moves must show.
_STILL, _MOVED, _CLEAR = 1e-4, 1e-3, 1e3
_ROUNDING = 30  # in units of the last digit, where a hidden score takes part in a shift that cancels
_OUTSCORED = "outscored"  # a name of its own: what is not finite there tells of no mistake


@check("support", "masked weights are zero", Dimension.MASKING, options=OneOutput)
def judge_support(item: Item, evidence: Evidence) -> Finding:
    """What the reference hides must be hidden: its weights are zero there, its mask is -inf or False.

    In a mask, whatever else is hidden is wrong as well. A weight must be exactly zero, for a small one counts as
    soon as its score or its value is large.
    """
    call = evidence.call(item, "base")
    slot = call.output(item.given(OneOutput).output)
    seen, expected = evidence.output(call, slot), evidence.expected_output(call, slot)
    if slot.dtype == "bool" or _is_added(slot, evidence):
        return _compare_masks(slot, seen, expected)
    if cause := cause_of_nan(seen, expected):
        return failed(f"of `{slot.name}`, {cause}")
    wrong = (expected == 0) & (seen != 0)
    if not wrong.any():
        return PASSED
    index = tuple(int(i) for i in wrong.nonzero()[0])
    return failed(
        f"`{slot.name}` must be 0 at {where(index, slot)}, which is masked; "
        f"yours is {float(seen[index]):.4g}. "
        f"{int(wrong.sum())} of {int((expected == 0).sum())} masked weights are not 0"
    )


def _is_added(slot: TensorSpec, evidence: Evidence) -> bool:
    """Return whether an output is a mask that is added to scores; a mask for a single token hides nothing."""
    calls = (call for call in plain_calls(evidence) if any(one.key == slot.key for one in call.outputs))
    truths = (evidence.truth(call, slot.key) for call in calls)
    return evidence.once(("added", slot.key), lambda: any(truth is not None and hides(truth) for truth in truths))


def _compare_masks(slot: TensorSpec, seen: Tensor, expected: Tensor) -> Finding:
    """Compare what two masks hide: -inf in one that is added to scores, False in one of bools."""
    hidden, word = (-torch.inf, "-inf") if slot.dtype != "bool" else (0.0, "False")
    wrong = (seen == hidden) != (expected == hidden)
    if not wrong.any():
        return PASSED
    index = tuple(int(i) for i in wrong.nonzero()[0])
    found = f"{float(seen[index]):.4g}" if slot.dtype != "bool" else str(bool(seen[index]))
    must = (
        f"must be {word}, because it is masked"
        if expected[index] == hidden
        else f"is not masked, so it must not be {word}"
    )
    return failed(
        f"`{slot.name}` at {where(index, slot)} {must}; yours is {found}. {int(wrong.sum())} such places in all"
    )


@check(
    "outscored",
    "masked keys with the highest scores",
    Dimension.MASKING,
    work=lambda item: Work((variant_call(item.case, _OUTSCORED),)),
    after=(_OUTSCORED,),
)
def judge_outscored(item: Item, evidence: Evidence) -> Finding:
    """The outputs must be the reference's although a hidden key scores far above the visible ones.

    What is not finite is accepted: who masks after the softmax and divides by what is left is right, and gets 0/0.
    """
    call = evidence.call(item, _OUTSCORED)
    for slot in call.outputs:
        seen, expected = evidence.output(call, slot), evidence.expected_output(call, slot)
        seen = torch.where(seen.isfinite(), seen, expected.double())
        if text := difference(slot.name, seen, expected, bound=evidence.bound(call, slot.key), slot=slot):
            return failed(f"where a masked key has the highest score of its row, your output is wrong: {text}")
    return PASSED


def says_nothing(call: Call, observed: Observations) -> bool:
    """Return whether `call` is one in which hidden keys outscore the visible ones, and its outputs are not finite."""
    seen = observed.calls.get(call.name)
    if seen is None or variant_of(call.name) != _OUTSCORED:
        return False
    outputs = (seen.slots[slot.key].tensor for slot in call.outputs if slot.key in seen.slots)
    return any(tensor is not None and not bool(tensor.isfinite().all()) for tensor in outputs)


# ---- who sees whom


class InfluenceOptions(InputAxis):
    """`axis` of the inputs `of` is stepped through; up to the axis `rows` of `output`, positions are told apart."""

    rows: str
    names: ClassVar = {
        **InputAxis.names,
        "rows": lambda given, part: part.returns[given.output].axes if given.output in part.returns else (),
    }


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


def _influence_work(item: Item) -> Work:
    changed = (variant_call(item.case, name, arguments=_changed(item, i)) for i, name in enumerate(_variants(item)))
    return Work((base_call(item.case), *changed))


@check(
    "influence",
    "attention pattern",
    Dimension.MASKING,
    work=_influence_work,
    after=(),
    options=InfluenceOptions,
    traits=[Trait.SHOWS_INFLUENCE],
)
def judge_influence(item: Item, evidence: Evidence) -> Finding:
    """The same outputs must move as in the reference when one index of `axis` changes in the inputs `of`."""
    for call in _calls(item, evidence):
        if (problem := evidence.problem(call)) is not None:
            return problem
    seen, expected, scale = influence(item, evidence)
    if text := _undefined(item, evidence, seen):
        return failed(text, besides=True)
    bounds = Bounds.of(evidence.call(item, "base").dtype, scale)
    leaks = (seen > bounds.moved) & (expected < bounds.still)
    blind = (seen < bounds.moved) & (expected > bounds.clear)
    options, what = item.given(InfluenceOptions), _what(item)
    if leaks.any():
        drawn = unsteady(evidence)
        index, row, many = _first_pair(leaks)
        text = (
            f"changing {what} at {options.axis} {index} must not change `{options.output}` at "
            f"{options.rows} {row}; yours changes by up to {float(seen[leaks].amax()):.3g}. {many}"
        )
        return failed(drawn or text, besides=bool(drawn) or _is_its_own(item, leaks))
    if blind.any() and not unsteady(evidence):  # what dropout hides in some places is no wrong pattern
        index, row, many = _first_pair(blind)
        text = (
            f"changing {what} at {options.axis} {index} must change `{options.output}` at "
            f"{options.rows} {row}, which attends to it; yours does not change. {many}"
        )
        return failed(text, besides=True)
    return PASSED


def _first_pair(wrong: Tensor) -> tuple[int, int, str]:
    """Return the first index that is changed and the row that moves, or does not; and in words how many there are."""
    *_, row, index = (int(i) for i in wrong.nonzero()[0])
    pairs = int(wrong.flatten(0, -3).any(0).sum()) if wrong.dim() > 2 else int(wrong.sum())
    return index, row, f"{pairs} such pair{'s' if pairs > 1 else ''} in all"


def _what(item: Item) -> str:
    """Return the inputs that are changed, in words."""
    return " and ".join(f"`{name}`" for name in item.given(InfluenceOptions).of)


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
