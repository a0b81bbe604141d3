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
from grader.box.observations import BuildSeen, CallSeen, Observations, Seen
from grader.box.plan import Call, Plan, TensorSpec
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

    Args:
        evidence: of the verdict.
        box_name: where the verdict's run was.
        places: where else to run.
        run: runs the submission in a box.
        reference: runs the reference in a place.

    Raises:
        GraderFault: something of ours failed.
    """
    names = _comparable(evidence)
    if not places or not names:
        return ()
    plan = evidence.plan.only(names)
    dtype = plan.calls[0].dtype
    own = _panel(replace(evidence, plan=plan), device=plan.device, dtype=dtype, box=box_name)
    others = (place for place in places if (place.device, place.dtype) != (plan.device, dtype))
    return (own, *(_elsewhere(evidence, plan, place, run=run, reference=reference) for place in others))


def _comparable(evidence: Evidence) -> frozenset[str]:
    """Return the plain calls of the verdict's precision that points depend on, and in which something came back."""
    plan = evidence.plan.untrained()
    refused = {build.name for build in plan.builds if build.must_raise}
    plain = [call for call in plan.calls if variant_of(call.name) == BASE and call.build not in refused]
    paid = [call for call in plain if call.name not in evidence.free and evidence.problem(call) is None]
    return frozenset(call.name for call in [call for call in paid if call.dtype == "float64"] or paid)


def _elsewhere(evidence: Evidence, plan: Plan, place: DevicePlace, *, run: Runner, reference: Reference) -> DevicePanel:
    """Run the submission and the reference in a place, side by side, and compare both with the verdict's truth."""
    there = replace(_cast(plan, place.dtype), device=place.device)
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(copy_context().run, run, place.box, there)
        rounded = reference(place, there)
        done = running.result()
    seen = Evidence(there, done.observations, evidence.expected, rounded, evidence.free)
    panel = _panel(seen, device=place.device, dtype=place.dtype, box=place.box.name)
    return replace(panel, note=_note(done, there))


def _cast(plan: Plan, dtype: str) -> Plan:
    builds = tuple(replace(build, dtype=dtype) for build in plan.builds)
    return replace(plan, builds=builds, calls=tuple(replace(call, dtype=dtype) for call in plan.calls))


def _note(run: Run, plan: Plan) -> str:
    """Return why something is missing from a panel; empty if nothing is."""
    observed = run.observations
    calls = [observed.calls[call.name] for call in plan.calls if call.name in observed.calls]
    events: list[BuildSeen | CallSeen] = [*observed.builds.values(), *calls]
    raised = observed.loading or next((event.raised for event in events if event.raised is not None), None)
    if raised is not None:
        return clean(f"there, your code fails: {explain(raised)}", limit=600)
    if run.ending is not Ending.FINISHED:
        return clean(f"there, your code did not finish ({run.ending}{f', {run.detail}' * bool(run.detail)})")
    return ""


def _panel(evidence: Evidence, *, device: str, dtype: str, box: str) -> DevicePanel:
    """Return for each output and each gradient the case in which it strays furthest, against its bound."""
    worst: dict[str, Reading] = {}
    for call in evidence.plan.calls:
        for name, reading in _readings(evidence, call):
            if name not in worst or _excess(reading) > _excess(worst[name]):
                worst[name] = reading
    return DevicePanel(device, dtype, box, tuple(worst.values()))


def _readings(evidence: Evidence, call: Call) -> Iterator[tuple[str, Reading]]:
    seen, case = evidence.observed.calls.get(call.name, CallSeen(call.name)), case_of(call.name)
    for slot in evidence.plan.slots(call):
        truth = evidence.truth(call, slot.key)
        if truth is not None and truth.is_floating_point() and truth.numel() and _counts(evidence, call, slot):
            scale, bound = evidence.scale(call, slot.key), evidence.bound(call, slot.key)
            error = _error(seen.slots.get(slot.key), truth)
            name = slot.name if slot in call.outputs else f"gradient of {slot.name}"
            reading = Reading(
                name, _short(error, scale), _short(bound, scale) or 0.0, error is not None and error <= bound, case
            )
            yield name, reading


def _counts(evidence: Evidence, call: Call, slot: TensorSpec) -> bool:
    """Whether there is anything to compare: a gradient that is zero in exact arithmetic is noise."""
    return slot in call.outputs or evidence.has_gradient(call, slot.key)


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
