"""Says what `observe` cannot have seen in a plan: whoever sends that has forged its answer.

A submission may patch whatever writes the frames, so a frame that keeps the format can still say what no construction
and no call of this plan gives. The judge relies on what an honest observer can say; all else is a `BadAnswer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from grader.box.keys import is_output
from grader.box.observations import BuildSeen, CallSeen, Presence, Seen, Stage
from grader.box.plan import Build, Call, Plan, TensorSpec, Weight
from grader.errors import BadAnswer

MOST_PLACES = 100  # weights whose places are told
NAME_LIMIT = 100  # characters of a weight's name


def expect_build(plan: Plan, build: Build, seen: BuildSeen) -> None:
    """Take what was said of a construction only if it can be so.

    Raises:
        BadAnswer: no construction of this build gives that.
    """
    ended = seen.raised is not None
    bare = ended or plan.contract(build.part).kind.brings_a_model
    weights = () if bare or build.must_raise else build.weights
    complaints = _about_ended(seen) if ended else _about_weights(weights, plan.initial_of, seen)
    if (bare and seen.loose) or ((bare or build.must_raise) and (seen.unused or seen.zeroed)):
        raise BadAnswer(f"construction `{build.name}` tells of parameters that nobody looked at")
    if (text := next(complaints, None)) is not None:
        raise BadAnswer(f"construction `{build.name}` {text}")


def expect_call(call: Call, slots: tuple[TensorSpec, ...], seen: CallSeen) -> None:
    """Take what was said of a call with these slots only if it can be so.

    Raises:
        BadAnswer: no such call gives that.
    """
    if (text := next(_about_call(call, slots, seen), None)) is not None:
        raise BadAnswer(f"call `{call.name}` {text}")


def _about_ended(seen: BuildSeen) -> Iterator[str]:
    """Yield what cannot be of a construction that raised: it has nothing else to tell."""
    if seen.raised is not None and seen.raised.stage not in (Stage.CONSTRUCT, Stage.TRANSFER):
        yield f"raised at the stage `{seen.raised.stage}`, which is not one of a construction"
    if seen.mapping or seen.initial or seen.places or seen.choices > 1:
        yield "raised, but tells of its weights"


def _about_weights(weights: tuple[Weight, ...], initial_of: tuple[str, ...], seen: BuildSeen) -> Iterator[str]:
    """Yield what cannot be of a construction that was given these weights."""
    names = {name[:NAME_LIMIT] for name in _tensors_of(weights)}
    if not weights and (seen.zeroed or seen.choices > 1 or seen.places):
        yield "has assignments of weights or biases set to zero, but was given no weights"
    if not names.issuperset(seen.mapping) or len(seen.mapping) != min(len(names), MOST_PLACES):
        yield "has places for other weights than those that it was given"
    if not names.intersection(name[:NAME_LIMIT] for name in initial_of).issuperset(seen.initial):
        yield "tells of initial values that nobody asked for"
    if any(deviation < 0 for _, deviation in seen.initial.values()):
        yield "has a standard deviation below zero"
    if seen.places and seen.places.partition("=")[0] not in _described_as(weights):
        yield "describes an assignment of other weights than those that it was given"


def _tensors_of(weights: tuple[Weight, ...]) -> Iterator[str]:
    """Yield the names under which the places of weights and their biases are told."""
    for weight in weights:
        yield weight.name
        if weight.bias is not None:
            yield f"{weight.name}.bias"


def _described_as(weights: tuple[Weight, ...]) -> set[str]:
    """Return with what the description of an assignment may begin: a weight, or a part that holds some."""
    return {weight.name for weight in weights} | {f"{weight.name.rpartition('.')[0]}@" for weight in weights}


def _about_call(call: Call, slots: tuple[TensorSpec, ...], seen: CallSeen) -> Iterator[str]:
    """Yield what cannot be of a call."""
    if seen.largest is not None and not call.max_elements:
        yield "tells of its largest tensor, which nobody measured"
    if not {name for name, value in call.arguments.items() if isinstance(value, Tensor)}.issuperset(seen.modified):
        yield "modified what is not one of its tensors"
    if seen.raised is not None:
        yield from _about_stage(slots, seen, seen.raised.stage)
    for slot in slots:
        if (found := seen.slots.get(slot.key)) is not None and (text := _about_slot(slot, found)):
            yield text


def _about_stage(slots: tuple[TensorSpec, ...], seen: CallSeen, stage: Stage) -> Iterator[str]:
    """Yield what cannot be of a call that raised there: outputs are looked at together, and gradients too."""
    if stage not in (Stage.CALL, Stage.BACKWARD):
        yield f"raised at the stage `{stage}`, which is not one of a call"
    outputs = {slot.key for slot in slots if is_output(slot.key)}
    possible = (set(),) if stage is Stage.CALL else (outputs, {slot.key for slot in slots})
    if set(seen.slots) not in possible:
        yield f"raised at the stage `{stage}`, but sent what comes later, or only some of what came before"


def _about_slot(slot: TensorSpec, found: Seen) -> str:
    """Return why this cannot have come in a slot; empty if it can."""
    if found.presence is Presence.NONE and is_output(slot.key):
        return f"has no gradient in `{slot.key}`, which is not one"
    if found.presence is Presence.MISSHAPEN and found.shape == slot.shape and found.dtype in slot.dtypes:
        return f"sent no values of `{slot.key}`, whose shape and dtype are as announced"
    return ""
