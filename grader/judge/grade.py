"""Grades one submission: a source text goes in, a report comes out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from grader.box.cancel import CancelToken
from grader.box.observations import BuildSeen, CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Box, Limits, Progress
from grader.checks.evidence import misfit
from grader.checks.explain import explain
from grader.errors import AuthorError, Rejected
from grader.exercise.catalog import Exercise
from grader.judge import figures
from grader.judge.attempt import OptionalParts, Outcome, attempt, tell
from grader.judge.completion import Completion, DevicePlace
from grader.judge.explain.budget import USUAL, Budget
from grader.judge.inspection import read
from grader.judge.report import Figures, Report, Status
from grader.judge.sheet import draw_up
from grader.judge.source import read_source


def grade(
    exercise: Exercise, source: str | bytes, *, seed: int, box: Box, places: Sequence[DevicePlace] = ()
) -> Report:
    """Grade `source` as `decide` does, and search for the cause of what went wrong at once.

    Raises:
        GraderFault: something of ours failed; nothing was decided.
    """
    report, complete = decide(exercise, source, seed=seed, box=box, places=places)
    return complete() if complete else report


def decide(
    exercise: Exercise,
    source: str | bytes,
    *,
    seed: int,
    box: Box,
    places: Sequence[DevicePlace] = (),
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    budget: Budget = USUAL,
) -> tuple[Report, Completion | None]:
    """Return the verdict on `source` as an answer to `exercise`, with tensors drawn from `seed`, reached in `box`.

    The verdict is reached in float64 on the CPU, always; whatever the submission does is told in the report, whose
    points and checks are final. With it comes what completes the report, None where nothing is added: it searches for
    the cause of what went wrong within `budget`, and has a panel made for each of `places`. `progress` is called with
    each finished call; `cancel` kills the run.

    Raises:
        Stopped: `cancel` was cancelled meanwhile.
        GraderFault: something of ours failed; nothing was decided.
    """
    start = time.perf_counter()
    blank = Report(exercise.id, Status.REJECTED, 0.0, seed, places[-1].device if places else "cpu", 0.0, box=box.name)
    try:
        text = read_source(source, limit_bytes=Limits().source_bytes)
    except Rejected as refusal:
        return replace(blank, reason=str(refusal)), None
    limits = Limits(**exercise.spec.limits.model_dump())
    called = threading.Event()

    def saw(call: CallSeen) -> None:
        called.set()
        if progress is not None:
            progress(call)

    def truth(plan: Plan) -> tuple[Observations, Observations]:
        """Ask the reference, and read the source while its run goes on, once a call shows that it was compiled."""
        both = observe_reference(exercise, plan)
        if called.is_set():
            with suppress(Exception):  # it comes again when the report is written, and is told there
                read(text, plan.forbidden, plan.entries)
        return both

    run = partial(box.run, limits=limits, progress=saw, cancel=cancel)
    outcome = attempt(draw_up(exercise, seed), text, run, truth, known=exercise.attempts)
    report = _verdict(blank, outcome, start)
    if not report.checks or (report.score == 100 and not places):
        return report, None
    complete = Completion(exercise, report, outcome, text, box, limits, places, budget)
    return replace(report, complete=False), complete


def _verdict(blank: Report, outcome: Outcome, start: float) -> Report:
    report = replace(tell(blank, outcome), seconds=round(time.perf_counter() - start, 4))
    if not report.checks:
        return report
    optional, grown = OptionalParts(), outcome.run.grown_bytes
    draw = partial(figures.draw, outcome.judged, outcome.evidence, grown)
    drawn = optional.make("the pictures are", draw, Figures())
    return replace(report, figures=drawn, advice=(*report.advice, *optional.missing))


def observe_reference(exercise: Exercise, plan: Plan) -> tuple[Observations, Observations]:
    """Return what the reference gives in float64, and in the calls of lower precision as they are; nothing trains.

    Raises:
        AuthorError: it does not load, raises where it must not, or returns something else.
    """
    plan = plan.untrained()
    lower = frozenset(call.name for call in plan.calls if call.dtype != "float64")
    expected = exercise.prebuilt.observe(plan.in_double())
    rounded = exercise.prebuilt.observe(plan.only(lower)) if lower else Observations()
    for text in _failures(plan.in_double(), expected):
        raise AuthorError(f"the reference of `{exercise.id}` {text}")
    return expected, rounded


def _failures(plan: Plan, expected: Observations) -> Iterator[str]:
    if expected.loading is not None:
        yield f"cannot be loaded: {explain(expected.loading)}"
    refused = {build.name for build in plan.builds if build.must_raise}
    events: list[CallSeen | BuildSeen] = [*expected.builds.values(), *expected.calls.values()]
    refused |= {call.name for call in plan.calls if call.build in refused}
    for event in events:
        if event.raised is not None and event.name not in refused:
            yield f"fails in `{event.name}`: {explain(event.raised)}"
    for call in (call for call in plan.calls if call.name not in refused):
        for slot in call.outputs:
            if text := misfit(slot, expected.calls[call.name], call):
                yield f"fails in `{call.name}`: {text}"
