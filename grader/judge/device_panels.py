"""Panels beside the verdict: the same answer on another device or in another precision, and how far it strays there.

They cost no points, and no exercise can make them: an answer would earn more where somebody has a GPU. What a right
answer may stray by is asked of the reference, which runs the same calls in the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.keys import BASE, case_of, variant_of
from grader.box.observations import CallSeen, Observations, Seen
from grader.box.plan import Call, Plan
from grader.box.run import Box, Ending, Run
from grader.checks.evidence import Evidence
from grader.checks.explain import explain
from grader.judge.report import DevicePanel, Reading
from grader.judge.text import clean

Runner = Callable[[Box, Plan], Run]  # the submission, in a box
Reference = Callable[["DevicePlace", Plan], Observations]

PANEL_DTYPE = "float32"  # what a GPU is used for; the CPU's panel beside it has the same, so that both compare
_DIGITS = 3


@dataclass(frozen=True, slots=True, eq=False)
class DevicePlace:
    """Where a submission is run once more, beside the verdict.

    Attributes:
        device: torch's name of it.
        dtype: of every call there.
        box: what runs submissions there.
        apart: the reference runs in the box too, in a process of its own, because this one keeps off the device.
    """

    device: str
    dtype: str
    box: Box
    apart: bool = False


def device_panels(
    evidence: Evidence, box_name: str, places: Sequence[DevicePlace], *, run: Runner, reference: Reference
) -> tuple[DevicePanel, ...]:
    """Return the verdict's own panel and one for each place; none where there is no place.

    Compared are the plain calls of the verdict's precision that points depend on, and in which something came back.

    Args:
        evidence: of the verdict.
        box_name: where the verdict's run was.
        places: where else to run.
        run: runs the submission in a box.
        reference: runs the reference in a place.

    Raises:
        GraderFault: something of ours failed.
    """
    plan = evidence.plan.untrained()
    refused = {build.name for build in plan.builds if build.must_raise}
    plain = [call for call in plan.calls if variant_of(call.name) == BASE and call.build not in refused]
    paid = [call for call in plain if call.name not in evidence.free and evidence.problem(call) is None]
    compared = [call for call in paid if call.dtype == "float64"] or paid
    if not places or not compared:
        return ()
    plan = evidence.plan.only(frozenset(call.name for call in compared))
    dtype = plan.calls[0].dtype
    own = _panel(replace(evidence, plan=plan), device=plan.device, dtype=dtype, box=box_name)
    others = (place for place in places if (place.device, place.dtype) != (plan.device, dtype))
    return (own, *(_elsewhere(evidence, plan, place, run=run, reference=reference) for place in others))


def _elsewhere(evidence: Evidence, plan: Plan, place: DevicePlace, *, run: Runner, reference: Reference) -> DevicePanel:
    """Run the submission and the reference in a place, side by side, and compare both with the verdict's truth."""
    builds = tuple(replace(build, dtype=place.dtype) for build in plan.builds)
    calls = tuple(replace(call, dtype=place.dtype) for call in plan.calls)
    there = replace(plan, builds=builds, calls=calls, device=place.device)
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(copy_context().run, run, place.box, there)
        rounded = reference(place, there)
        done = running.result()
    seen = Evidence(there, done.observations, evidence.expected, rounded, evidence.free)
    panel = _panel(seen, device=place.device, dtype=place.dtype, box=place.box.name)
    return replace(panel, note=_note(done, there))


def _note(run: Run, plan: Plan) -> str:
    """Return why something is missing from a panel; empty if nothing is."""
    observed = run.observations
    calls = [observed.calls[call.name] for call in plan.calls if call.name in observed.calls]
    raised = [*(build.raised for build in observed.builds.values()), *(call.raised for call in calls)]
    if first := next(filter(None, (observed.loading, *raised)), None):
        return clean(f"there, your code fails: {explain(first)}", limit=600)
    if run.ending is not Ending.FINISHED:
        return clean(f"there, your code did not finish ({run.ending}{f', {run.detail}' * bool(run.detail)})")
    return ""


def _panel(evidence: Evidence, *, device: str, dtype: str, box: str) -> DevicePanel:
    """Return for each output and each gradient the case in which it strays furthest, against its bound."""
    worst: dict[str, Reading] = {}
    for call in evidence.plan.calls:
        for reading in _readings(evidence, call):
            if reading.name not in worst or _excess(reading) > _excess(worst[reading.name]):
                worst[reading.name] = reading
    return DevicePanel(device, dtype, box, tuple(worst.values()))


def _readings(evidence: Evidence, call: Call) -> Iterator[Reading]:
    seen = evidence.observed.calls.get(call.name, CallSeen(call.name))
    for slot in evidence.plan.slots(call):
        truth, is_output = evidence.truth(call, slot.key), slot in call.outputs
        if truth is None or not truth.is_floating_point() or not truth.numel():
            continue
        if not is_output and not evidence.has_gradient(call, slot.key):
            continue  # a gradient that is zero in exact arithmetic is noise
        scale, bound = evidence.scale(call, slot.key), evidence.bound(call, slot.key)
        error = _error(seen.slots.get(slot.key), truth)
        name = slot.name if is_output else f"gradient of {slot.name}"
        within = error is not None and error <= bound
        yield Reading(name, _short(error, scale), _short(bound, scale) or 0.0, within, case_of(call.name))


def _error(seen: Seen | None, truth: Tensor) -> float | None:
    """Return the largest difference, None where there is no tensor or it is not finite where it should be."""
    if seen is None or seen.tensor is None:
        return None
    there, wanted = seen.tensor.double(), truth.double()
    error = torch.where(there == wanted, 0.0, (there - wanted).abs())  # infinite ones are equal, or wrong
    return float(error.max()) if bool(torch.isfinite(error).all()) else None


def _excess(reading: Reading) -> float:
    if reading.error is None:
        return float("inf")
    return reading.error / reading.bound if reading.bound else float("inf") * reading.error


def _short(value: float | None, scale: float) -> float | None:
    return None if value is None else float(f"{value / scale:.{_DIGITS}g}")
