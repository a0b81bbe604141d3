"""Grades one submission: a source text goes in, a report comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from grader.box.cancel import CancelToken
from grader.box.inline import observe_all
from grader.box.observations import BuildSeen, CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Box, Ending, Limits, Progress, Run
from grader.checks.evidence import misfit
from grader.checks.explain import explain
from grader.errors import AuthorError, GraderFault, Rejected
from grader.exercise.catalog import Exercise
from grader.judge import figures
from grader.judge.attempt import Outcome, Truth, attempt, tell
from grader.judge.device_panels import DevicePlace, Runner, device_panels
from grader.judge.effort import DESK, Budget
from grader.judge.explaining import explained
from grader.judge.optional_parts import OptionalParts
from grader.judge.prepared import Prepared
from grader.judge.preview import Preview
from grader.judge.report import DevicePanel, Figures, Report, Status
from grader.judge.sheet import Sheet, draw_up
from grader.judge.sketches import Sketches, blank_sketches, sketch_all
from grader.judge.source import read_source

_GENEROUS = Limits(cpu_seconds=60.0, wall_seconds=60.0)  # for the reference, which is ours


def grade(
    exercise: Exercise,
    source: str | bytes,
    *,
    seed: int,
    box: Box,
    places: Sequence[DevicePlace] = (),
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    verdict: Callable[[Report], None] = lambda _: None,
    budget: Budget = DESK,
    take: Callable[[], Prepared | None] = lambda: None,
) -> Report:
    """Grade `source` as an answer to `exercise`, with tensors drawn from `seed`, in `box`.

    The verdict is reached in float64 on the CPU, always; with `places` the report has a panel for each of them too.
    Whatever the submission does is told in the report. `progress` is called with each finished call; `cancel` kills the
    run and ends the search for causes and places. Where more is looked for after the verdict, `verdict` is called with
    the report so far, whose points and checks are final; `budget` is what may be done afterwards. `take` is called once
    the source is known to be of use; what it gives for this exercise takes the place of `seed`, whatever seed it has.

    Raises:
        Stopped: `cancel` was cancelled meanwhile.
        GraderFault: something of ours failed; nothing was decided.
    """
    start = time.perf_counter()
    blank = Report(exercise.id, Status.REJECTED, 0.0, seed, places[-1].device if places else "cpu", 0.0, box=box.name)
    try:
        text = read_source(source, limit_bytes=Limits().source_bytes)
    except Rejected as refusal:
        return replace(blank, reason=str(refusal))
    limits = Limits(**exercise.spec.limits.model_dump())
    preview = Preview(partial(box.run, source=text, limits=limits, cancel=cancel), progress)
    seed, sheet, truth, sketches = _asked(exercise, seed, take())
    outcome = attempt(sheet, text, preview.run, truth, known=exercise.attempts, meanwhile=partial(preview.read, text))
    report = _pictured(replace(blank, seed=seed), outcome, start)
    if report.checks and (report.score < 100 or places):
        verdict(replace(report, complete=False))
    again = partial(_run_in, text=text, limits=limits, cancel=cancel, places=outcome.places)
    once_more = partial(again, box, limits=_shorter(limits, budget.rerun_seconds))
    look = partial(explained, text=text, run=once_more, budget=budget, sketches=sketches, cancel=cancel)
    return _with_panels(exercise, look(exercise, report, outcome), outcome, places=places, run=again)


def _asked(exercise: Exercise, seed: int, prepared: Prepared | None) -> tuple[int, Sheet, Truth, Sketches | None]:
    """Return the seed, what is asked, what finds the truth of it, and the sketches of the known mistakes."""
    find = partial(observe_reference, exercise)
    if prepared is None:
        return seed, draw_up(exercise, seed), find, None
    sheet, known = prepared.sheet, prepared.truth
    return prepared.seed, sheet, lambda plan: known if plan is sheet.plan else find(plan), prepared.sketches


def _shorter(limits: Limits, seconds: float) -> Limits:
    return replace(limits, wall_seconds=min(limits.wall_seconds, seconds))


def _pictured(blank: Report, outcome: Outcome, start: float) -> Report:
    """Return `blank` with all that follows from the outcome, with pictures where anything was checked."""
    report = replace(tell(blank, outcome), seconds=round(time.perf_counter() - start, 4))
    if not report.checks:
        return report
    optional = OptionalParts()
    drawn = optional.make(
        "the pictures are",
        lambda: figures.draw(outcome.judged, outcome.evidence, outcome.run.grown_bytes),
        Figures(),
    )
    return replace(report, figures=drawn, advice=(*report.advice, *optional.missing))


def _with_panels(
    exercise: Exercise, report: Report, outcome: Outcome, *, places: Sequence[DevicePlace], run: Runner
) -> Report:
    """Return `report` with its panels; a device that fails us costs them, never the verdict."""
    if not report.checks:
        return report
    optional, none = OptionalParts(), ()
    reference = partial(_reference_in, exercise)
    found: tuple[DevicePanel, ...] = optional.make(
        "the panels of other devices are",
        lambda: device_panels(outcome.evidence, report.box, places, run=run, reference=reference),
        none,
    )
    return replace(report, panels=found, advice=(*report.advice, *optional.missing))


def _run_in(box: Box, plan: Plan, *, text: str, limits: Limits, cancel: CancelToken | None, places: str) -> Run:
    return box.run(plan.placing(places) if places else plan, text, limits, cancel=cancel)


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


def prepare(exercise: Exercise, seed: int, go_on: Callable[[], bool] = lambda: False) -> Prepared:
    """Return the sheet of a seed with its truth, and with sketches of the known mistakes as long as `go_on` says yes.

    Raises:
        AuthorError: the exercise is wrong.
    """
    sheet = draw_up(exercise, seed)
    prepared = Prepared(seed, sheet, observe_reference(exercise, sheet.plan), blank_sketches(exercise, sheet))
    sketch_all(exercise, sheet, prepared.sketches, go_on)
    return prepared


def observe_reference(exercise: Exercise, plan: Plan) -> tuple[Observations, Observations]:
    """Return what the reference gives in float64, and in the calls of lower precision as they are; nothing trains."""
    plan = plan.untrained()
    lower = frozenset(call.name for call in plan.calls if call.dtype != "float64")
    expected = exercise.prebuilt.observe(plan.in_double())
    rounded = exercise.prebuilt.observe(plan.only(lower)) if lower else Observations()
    for text in _failures(plan.in_double(), expected):
        raise AuthorError(f"the reference of `{exercise.id}` {text}")
    return expected, rounded


def _failures(plan: Plan, expected: Observations) -> Iterator[str]:
    """Yield what is wrong with a reference: it does not load, raises where it must not, or returns something else."""
    if expected.loading is not None:
        yield f"cannot be loaded: {explain(expected.loading)}"
    refused = {build.name for build in plan.builds if build.must_raise}
    events: list[CallSeen | BuildSeen] = [*expected.builds.values(), *expected.calls.values()]
    refused |= {call.name for call in plan.calls if call.build in refused}
    for event in events:
        if event.raised is not None and event.name not in refused:
            yield f"fails in `{event.name}`: {explain(event.raised)}"
    for call in (call for call in plan.calls if call.name not in refused):
        found = (misfit(slot, expected.calls[call.name], call) for slot in call.outputs)
        yield from (f"fails in `{call.name}`: {text}" for text in found if text)
