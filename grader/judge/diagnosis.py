"""Names the mistake: the known one whose observations are the student's.

Every known mistake runs the same plan as the student's code did. One that agrees on every call, outputs and gradients,
to the precision of the verdict, explains the submission. If it is the only one, the diagnosis is certain; if no
mistake agrees, nothing is said about causes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch

from grader.box.observations import BuildSeen, CallSeen, Event, Observations, Raised, Seen
from grader.box.observe import observe
from grader.box.plan import Call, Plan
from grader.checks.evidence import Evidence, scales
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.report import Diagnosis

# Relative to a tensor's scale, by the precision that the verdict was reached in.
_AGREEMENT = {"float64": 1e-9, "float32": 1e-5}


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What a mistake is held against.

    Attributes:
        plan: the calls that are looked at.
        observed, right: what the submission gave, and what the reference gives in the same precision.
        subtle: every plain call is right, so what modules hold and refuse is looked at as well.
        known: what some mistakes give, from before.
    """

    plan: Plan
    observed: Observations
    right: Observations
    subtle: bool
    known: Mapping[str, Observations]


def diagnose(
    exercise: Exercise, evidence: Evidence, known: Mapping[str, Observations] | None = None
) -> tuple[Diagnosis, ...]:
    """Return the known mistakes that explain what was seen, none where none does.

    Args:
        exercise: whose mistakes they are.
        evidence: what was seen.
        known: by mistake, what it gives on the whole plan, where that was observed before.
    """
    dtype = "float64" if any(call.dtype == "float64" for call in evidence.plan.calls) else "float32"
    calls = {c.name: c for c in evidence.plan.calls if c.dtype == dtype and c.name not in evidence.free}
    right = evidence.expected if dtype == "float64" else evidence.rounded
    plain = {name for name, call in calls.items() if not call.training}
    # Random draws agree only by luck, so training mode is looked at only where the mistake shows nowhere else.
    subtle = all(_is_right(calls[name], evidence.observed, right) for name in plain)
    names = set(calls) if subtle else plain
    plan = evidence.plan.only(frozenset(names))
    refused = tuple(build for build in evidence.plan.builds if build.refused) if subtle else ()
    scene = _Scene(replace(plan, builds=(*plan.builds, *refused)), evidence.observed, right, subtle, known or {})
    found = [wrong for wrong in exercise.mistakes if _explains(exercise, wrong, scene)]
    complete = all(name in evidence.observed.calls for name in names if _was_built(evidence, calls[name]))
    certain = len(found) == 1 and complete and dtype == "float64"
    return tuple(Diagnosis(wrong.name, wrong.title, wrong.message, certain) for wrong in found)


def _was_built(evidence: Evidence, call: Call) -> bool:
    built = evidence.observed.builds.get(call.build) if call.build else None
    return built is None or built.raised is None


def _is_right(call: Call, observed: Observations, right: Observations) -> bool:
    seen = observed.calls.get(call.name)
    return seen is not None and _agree(call, seen, right.calls[call.name])


def _explains(exercise: Exercise, wrong: Mistake, scene: _Scene) -> bool:
    """Return whether `wrong` gives what was seen, on every call that was finished; stops at the first miss.

    It must differ from the right answer somewhere on what was seen: else it explains nothing.
    """
    calls = {call.name: call for call in scene.plan.calls}
    differs = False
    for event in _events(exercise, wrong, scene):
        if isinstance(event, BuildSeen):
            built = scene.observed.builds.get(event.name)
            if built is not None and _traits(built, scene) != _traits(event, scene):
                return False
            differs = differs or _traits(event, scene) != _traits(scene.right.builds[event.name], scene)
        elif isinstance(event, CallSeen) and (seen := scene.observed.calls.get(event.name)) is not None:
            if not _agree(calls[event.name], seen, event):
                return False
            differs = differs or not _agree(calls[event.name], event, scene.right.calls[event.name])
    return differs


def _events(exercise: Exercise, wrong: Mistake, scene: _Scene) -> Iterator[Event]:
    if (before := scene.known.get(wrong.name)) is None:
        yield from observe(scene.plan, exercise.reference(wrong))
        return
    yield from (before.builds[build.name] for build in scene.plan.builds if build.name in before.builds)
    yield from (before.calls[call.name] for call in scene.plan.calls if call.name in before.calls)


def _traits(built: BuildSeen, scene: _Scene) -> tuple[bool, bool]:
    return built.raised is None, scene.subtle and bool(built.unused)


def _agree(call: Call, one: CallSeen, other: CallSeen) -> bool:
    if _kind(one.raised) != _kind(other.raised) or one.slots.keys() != other.slots.keys():
        return False
    scale = scales(other)
    return all(_same(one.slots[key], other.slots[key], _AGREEMENT[call.dtype] * scale[key]) for key in one.slots)


def _kind(raised: Raised | None) -> tuple[str, str] | None:
    return (raised.stage, raised.type) if raised else None


def _same(one: Seen, other: Seen, allowed: float) -> bool:
    if one.tensor is None or other.tensor is None:
        return (one.presence, one.shape) == (other.presence, other.shape)
    return torch.allclose(one.tensor.double(), other.tensor.double(), rtol=0.0, atol=allowed, equal_nan=True)
