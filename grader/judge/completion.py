"""What is added to a report after its verdict: the cause of what went wrong, where it begins, panels of other devices.

It can be done at once or later, in another thread; it holds what was seen of the answer until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from grader.box.cancel import CancelToken
from grader.box.inline import observe_all
from grader.box.keys import BASE, case_of, variant_of
from grader.box.observations import CallSeen, Observations, Seen
from grader.box.plan import Call, Plan
from grader.box.run import Box, Ending, Limits, Run
from grader.checks.evidence import Evidence
from grader.checks.explain import explain
from grader.errors import GraderFault
from grader.exercise.catalog import Exercise
from grader.judge.attempt import OptionalParts, Outcome
from grader.judge.explain.budget import Budget, Effort, while_there_is_time, within
from grader.judge.explain.diagnosis import causes
from grader.judge.explain.location import locate
from grader.judge.explain.symptoms import unfinished
from grader.judge.explain.trace import WrongAnswer
from grader.judge.report import DevicePanel, Diagnosis, Location, Reading, Report
from grader.judge.text import clean

_Runner = Callable[[Box, Plan], Run]  # the submission, in a box
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


_GENEROUS = Limits(cpu_seconds=60.0, wall_seconds=60.0)  # for the reference, which is ours
_CUT = "the search for a known mistake that explains your results ended before all mistakes, and all pairs, were tried"


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """How one report is completed.

    Attributes:
        report: the verdict; its points and checks stay as they are.
        outcome: what became of the answer.
        text: its source.
        box, limits: where and how it ran.
        places: the devices that get a panel.
        budget: what may be done for the cause and the place.
        remarks: what is added to the advice.
    """

    exercise: Exercise
    report: Report
    outcome: Outcome
    text: str
    box: Box
    limits: Limits
    places: Sequence[DevicePlace]
    budget: Budget
    remarks: tuple[str, ...] = ()

    def __call__(self, cancel: CancelToken | None = None) -> Report:
        """Return the completed report.

        Raises:
            Stopped: `cancel` was cancelled.
        """
        report = self._with_cause(self.report, cancel)
        report = self._with_panels(report, cancel)
        return replace(report, advice=(*report.advice, *self.remarks))

    def _with_cause(self, report: Report, cancel: CancelToken | None) -> Report:
        """Return `report` with the known mistake, and with the line where the answer begins to differ.

        Nothing here gives or takes points. What fails in here leaves a line among the advice.
        """
        if self.outcome.score == 100 or not report.checks:
            return report
        optional, effort = OptionalParts(), Effort(self.budget.search)
        found: tuple[Diagnosis, ...] = ()
        look = partial(causes, self.exercise, self.outcome, report.lost, cancel=cancel, effort=effort)
        found = optional.make("the cause is", look, found)
        place = optional.make("the place where your code first differs is", partial(self._location, cancel), None)
        if place is not None and found and place.line is None:
            place = None  # what is known to be right says less than a mistake by its name
        if place is not None:  # it may quote the answer's own words
            title = clean(" ".join(place.title.split()), limit=200)
            place = replace(place, title=title, message=clean(place.message, limit=4000))
        cut = (_CUT,) if effort.spent and not found else ()
        return replace(report, diagnosis=found, location=place, advice=(*report.advice, *cut, *optional.missing))

    def _location(self, cancel: CancelToken | None) -> Location | None:
        seconds = min(self.limits.wall_seconds, self.budget.rerun_seconds)
        run = partial(self._run_in, self.box, limits=replace(self.limits, wall_seconds=seconds), cancel=cancel)
        answer = WrongAnswer(self.exercise, self.outcome, self.text, run, cancel or CancelToken())
        if self.outcome.run.ending is Ending.TIMEOUT:
            return unfinished(answer)
        if self.outcome.run.ending is not Ending.FINISHED:
            return None
        answer.run = while_there_is_time(run, self.budget.rerun_seconds)
        return within(self.budget.comparisons, partial(locate, answer, self.budget.location))

    def _run_in(self, box: Box, plan: Plan, *, limits: Limits, cancel: CancelToken | None) -> Run:
        places = self.outcome.places
        return box.run(plan.placing(places) if places else plan, self.text, limits, cancel=cancel)

    def _with_panels(self, report: Report, cancel: CancelToken | None) -> Report:
        """Return `report` with its panels; a device that fails us costs them, never the verdict."""
        optional, none = OptionalParts(), ()
        run = partial(self._run_in, limits=self.limits, cancel=cancel)
        reference = partial(_reference_in, self.exercise)
        found: tuple[DevicePanel, ...] = optional.make(
            "the panels of other devices are",
            lambda: device_panels(self.outcome.evidence, report.box, self.places, run=run, reference=reference),
            none,
        )
        return replace(report, panels=found, advice=(*report.advice, *optional.missing))


def _reference_in(exercise: Exercise, place: DevicePlace, plan: Plan) -> Observations:
    """Return what the reference gives in `place`.

    Raises:
        GraderFault: it does not come to its end there.
    """
    if not place.apart:
        return observe_all(plan, exercise.reference())
    done = place.box.run(plan, exercise.reference_path.read_text(encoding="utf-8"), _GENEROUS)
    if done.ending is not Ending.FINISHED or done.observations.loading is not None:
        raise GraderFault(
            f"the reference of `{exercise.id}` does not run on {place.device}: {done.ending} {done.detail}"
        )
    return done.observations


# ---- panels of other devices


def device_panels(
    evidence: Evidence, box_name: str, places: Sequence[DevicePlace], *, run: _Runner, reference: Reference
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


def _elsewhere(
    evidence: Evidence, plan: Plan, place: DevicePlace, *, run: _Runner, reference: Reference
) -> DevicePanel:
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
