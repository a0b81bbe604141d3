"""Says what an answer does that shows when it runs again: it keeps something, overwrites an argument, gives NaN.

Each of these is an experiment: the answer runs again on one or a few calls, and what it gives is compared with what it
gave before, or in the other mode. So what is said has been seen; it gives no points and takes none.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from grader.box.keys import CallName, call_name, case_of, is_output
from grader.box.observations import CallSeen
from grader.box.plan import Call
from grader.checks.evidence import Trait
from grader.judge.cause import Location
from grader.judge.retrace import Retrace, first_change
from grader.judge.text import capitalised, clean


def kept(again: Retrace) -> Location | None:
    """Return that a call is right by itself, and wrong after another one: something is kept from call to call."""
    for call in _first_of_each_kind(again):
        alone = again.alone(call)
        if alone is None or again.is_wrong(call, alone):
            continue
        for before in _histories(again, call):
            seen = again.traced(*before, call)
            after = seen.calls.get(call.name) if seen is not None else None
            if after is not None and again.is_wrong(call, after):
                return _told_kept(again, call, alone, after)
    return None


def _first_of_each_kind(again: Retrace) -> list[Call]:
    """Return the smallest call that raised, of those with wrong shapes, and of those with wrong numbers."""
    found: dict[str, Call] = {}
    for call in again.counted():
        seen = again.evidence.observed.calls.get(call.name)
        if call.training or seen is None or again.says_nothing(call) or not again.is_wrong(call, seen):
            continue
        found.setdefault("raised" if seen.raised else "given", call)
    return list(found.values())


def _histories(again: Retrace, call: Call) -> list[list[Call]]:
    """Return the calls that came before, those of the same construction first."""
    plan = again.evidence.plan.untrained()
    names = [one.name for one in plan.calls]
    before = [one for one in plan.calls[: names.index(call.name)] if one.name in again.evidence.observed.calls]
    own = [one for one in before if one.build == call.build]
    return [calls for calls in (own, before if before != own else []) if calls]


def _told_kept(again: Retrace, call: Call, alone: CallSeen, after: CallSeen) -> Location:
    changed = first_change(alone.trace, after.trace, again.tolerance)
    line = after.raised.line if after.raised and (changed is None or changed is after.trace[-1]) else None
    line = line or (changed.line if changed else None)
    place = f": see {again.where(line)}" if line else ""
    first = f" The first difference that was seen is at {again.where(line)}." if line else ""
    return Location(
        "",
        f"Your code keeps state from one call to the next{place}",
        f"The case “{again.title(call)}” is right by itself, but wrong after earlier calls.{first} "
        "Each call must depend only on its arguments: compute whatever depends on them anew in each call.",
        line,
    )


def trained(again: Retrace) -> Location | None:
    """Return the first line whose result changes in training mode, where a check failed in that mode alone."""
    call = _failed_in_training(again)
    if call is None or _first_of_each_kind(again):
        return None
    telling = "training" in call.arguments
    still = replace(
        call,
        name=CallName(f"{call.name} in evaluation mode"),
        training=False,
        arguments={**call.arguments, "training": False} if telling else call.arguments,
    )
    before, after = again.alone(still), again.alone(call)
    if before is None or after is None:
        return None
    changed = first_change(before.trace, after.trace, again.tolerance)
    drawn = next((result for result in after.trace if result.random), None)
    line = drawn.line if drawn is not None else changed.line if changed is not None else None
    may = _may_change(again, call)
    if line is None:
        return _told_still(again, call) if may else None
    return _told_training(again, call, line, drawn is not None, may=may)


def _told_training(again: Retrace, call: Call, line: int, drawn: bool, *, may: bool) -> Location:
    place = again.where(line)
    what = f"{place} draws random numbers" if drawn else f"{place} gives different results than in evaluation mode"
    due = (
        "The failed check says what dropout must do there."
        if may
        else "Training mode must not change anything in this case: nothing is to be dropped."
    )
    title = f"Training mode changes your results at {place}"
    if may and drawn:  # as it must, so that is no fault by itself
        title = f"In training mode {place} draws random numbers"
    return Location("", title, f"In the case “{again.title(call)}”, in training mode, {what}. {due}", line)


def _told_still(again: Retrace, call: Call) -> Location:
    message = (
        f"In the case “{again.title(call)}” every result of your code is the same in training and in evaluation "
        "mode. In training mode elements must be dropped."
    )
    return Location("", "Training mode does not change your results", message)


def _failed_in_training(again: Retrace) -> Call | None:
    """Return the smallest call in training mode on which a check failed, evaluation mode being right."""
    items = [line.item for line in again.outcome.judged if not line.passed]
    dropping = {item.case.name for item in items if item.has(Trait.CHANGES_IN_TRAINING)}
    steady = {item.case.name for item in items if item.has(Trait.SAME_IN_TRAINING)}
    for call in again.counted():
        case = case_of(call.name)
        seen = again.evidence.observed.calls.get(call.name)
        if not call.training or seen is None or seen.raised:
            continue
        if case in dropping and _may_change(again, call):
            return call
        base = again.evidence.observed.calls.get(call_name(case))
        right = base is not None and not again.is_wrong(again.evidence.plan.call(call_name(case)), base)
        if case in steady and right and not _may_change(again, call) and again.is_wrong(call, seen):
            return call
    return None


def _may_change(again: Retrace, call: Call) -> bool:
    """Return whether the reference gives something else in training mode than in evaluation mode."""
    case = case_of(call.name)
    expected = again.evidence.expected.calls
    plain = expected.get(call_name(case))
    if plain is None or call.name not in expected or "training" in call.arguments:
        return True
    return any(
        not _equal(expected[call.name].slots[slot.key].tensor, plain.slots[slot.key].tensor) for slot in call.outputs
    )


def _equal(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and one.shape == other.shape and bool((one == other).all())


def written(again: Retrace) -> Location | None:
    """Return the line that writes into an argument."""
    for call in again.counted():
        seen = again.evidence.observed.calls.get(call.name)
        if seen is None or not seen.modified:
            continue
        alone = again.alone(call)
        line = next((result.line for result in alone.trace if result.writes), None) if alone is not None else None
        if line is None:
            return None
        names = ", ".join(f"`{clean(name, limit=40)}`" for name in seen.modified)
        place = again.where(line)
        return Location(
            "",
            f"{capitalised(place)} writes into an argument",
            f"In the case “{again.title(call)}” {names} changes during your call: {place} writes into "
            "it. The caller may still need it: create a new tensor.",
            line,
        )
    return None


def undefined(again: Retrace) -> Location | None:
    """Return the line that first gives NaN, in a call whose output has NaN and must have none."""
    for call in _first_of_each_kind(again):
        seen = again.evidence.observed.calls[call.name]
        if not any(_breaks(again, call, key, slot.tensor) for key, slot in seen.slots.items()):
            continue
        alone = again.alone(call)
        trace = alone.trace if alone is not None else ()
        line = next((result.line for result in trace if bool(result.values.isnan().any())), None)
        if line is not None:
            place = again.where(line)
            message = (
                f"In the case “{again.title(call)}” your output must not contain NaN. {capitalised(place)} is the "
                "first line that produces it: look for ∞ - ∞, 0 · ∞ and 0 / 0 there."
            )
            return Location("", f"NaN first appears at {place}", message, line)
    return None


def _breaks(again: Retrace, call: Call, key: str, values: Tensor | None) -> bool:
    truth = again.evidence.truth(call, key)
    return (
        is_output(key)
        and values is not None
        and truth is not None
        and bool(values.isnan().any())
        and not bool(truth.isnan().any())
    )
