"""Names the mistake: the known one whose observations are the student's.

Every known mistake runs the same plan as the student's code did. One that agrees on every call, outputs and gradients,
to the precision of the verdict, explains the submission. If it is the only one, the diagnosis is certain; if no
mistake agrees, nothing is said about causes.
"""

from __future__ import annotations

import torch

from grader.box.observations import BuildSeen, CallSeen, Observations, Seen
from grader.box.observe import observe
from grader.box.plan import Call, Plan
from grader.checks.evidence import Evidence, scales
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.report import Diagnosis

# Relative to a tensor's scale, by the precision that the verdict was reached in.
_AGREEMENT = {"float64": 1e-9, "float32": 1e-5}


def diagnose(exercise: Exercise, evidence: Evidence) -> tuple[Diagnosis, ...]:
    """Return the known mistakes that explain what was seen, none where none does."""
    dtype = "float64" if any(call.dtype == "float64" for call in evidence.plan.calls) else "float32"
    calls = {call.name: call for call in evidence.plan.calls if call.dtype == dtype}
    plain = {name for name, call in calls.items() if not call.training}
    # Random draws agree only by luck, so training mode is looked at only where the mistake shows nowhere else.
    names = set(calls) if all(_is_right(evidence, calls[name]) for name in plain) else plain
    plan = evidence.plan.only(frozenset(names))
    found = [wrong for wrong in exercise.mistakes if _explains(exercise, wrong, plan, evidence.observed)]
    complete = all(name in evidence.observed.calls for name in names if _was_built(evidence, calls[name]))
    certain = len(found) == 1 and complete and dtype == "float64"
    return tuple(Diagnosis(wrong.name, wrong.title, wrong.message, certain) for wrong in found)


def _was_built(evidence: Evidence, call: Call) -> bool:
    built = evidence.observed.builds.get(call.build) if call.build else None
    return built is None or built.raised is None


def _is_right(evidence: Evidence, call: Call) -> bool:
    seen = evidence.observed.calls.get(call.name)
    return seen is not None and _agree(call, seen, evidence.expected.calls[call.name])


def _explains(exercise: Exercise, wrong: Mistake, plan: Plan, observed: Observations) -> bool:
    """Return whether `wrong` gives what was seen, on every call that was finished; stops at the first miss."""
    calls = {call.name: call for call in plan.calls}
    matched = False
    for event in observe(plan, exercise.reference(wrong)):
        if isinstance(event, BuildSeen):
            built = observed.builds.get(event.name)
            if built is not None and (built.raised is None) != (event.raised is None):
                return False
        elif isinstance(event, CallSeen):
            if (seen := observed.calls.get(event.name)) is not None:
                if not _agree(calls[event.name], seen, event):
                    return False
                matched = True
    return matched


def _agree(call: Call, one: CallSeen, other: CallSeen) -> bool:
    if (one.raised is None) != (other.raised is None) or one.slots.keys() != other.slots.keys():
        return False
    scale = scales(other)
    return all(_same(one.slots[key], other.slots[key], _AGREEMENT[call.dtype] * scale[key]) for key in one.slots)


def _same(one: Seen, other: Seen, allowed: float) -> bool:
    if one.tensor is None or other.tensor is None:
        return (one.presence, one.shape) == (other.presence, other.shape)
    return torch.allclose(one.tensor.double(), other.tensor.double(), rtol=0.0, atol=allowed, equal_nan=True)
