"""Grades one submission: a source text goes in, a report comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from grader.box.inline import observe_all
from grader.box.leash import Leash
from grader.box.observations import Blame, BuildSeen, CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Box, Ending, Limits, Progress, Run
from grader.checks.evidence import Evidence
from grader.checks.trouble import explain
from grader.errors import AuthorError, Rejected
from grader.exercise.catalog import Exercise
from grader.judge import advice, figures, scoring
from grader.judge.diagnosis import diagnose
from grader.judge.report import Report, Status
from grader.judge.sheet import Sheet, draw_up
from grader.judge.source import names_single_precision, read_source
from grader.judge.text import clean
from grader.judge.verdicts import Judged, judge

_Runner = Callable[[Plan], Run]

_STATUS = {
    Ending.FINISHED: Status.GRADED,
    Ending.TIMEOUT: Status.TIMEOUT,
    Ending.MEMORY: Status.MEMORY,
    Ending.OUTPUT: Status.CRASHED,
    Ending.CRASHED: Status.CRASHED,
    Ending.PROTOCOL: Status.CRASHED,
}
_SINGLE_ADVICE = (
    "your code asks for float32 by name, so it was graded in float32, less exactly; "
    "take dtype and device from the input instead"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """One run with its evidence and its verdicts."""

    run: Run
    evidence: Evidence
    judged: tuple[Judged, ...]
    single: bool = False

    @property
    def score(self) -> float:
        return scoring.score(self.judged)


def grade(
    exercise: Exercise,
    source: str | bytes,
    *,
    seed: int,
    box: Box,
    device: str = "cpu",
    progress: Progress | None = None,
    leash: Leash | None = None,
) -> Report:
    """Grade `source` as an answer to `exercise`, with tensors drawn from `seed`, in `box`.

    Whatever the submission does is told in the report. `progress` is called with the name of each finished call;
    pulling `leash` kills the run, and what then comes back is of no use.

    Raises:
        GraderFault: something of ours failed; nothing was decided.
    """
    start = time.perf_counter()
    blank = Report(exercise.id, Status.REJECTED, 0.0, seed, device, 0.0, box=box.name)
    try:
        text = read_source(source, limit_bytes=Limits().source_bytes)
    except Rejected as refusal:
        return replace(blank, reason=str(refusal), seconds=time.perf_counter() - start)
    limits = Limits(**exercise.spec.limits.model_dump())
    run = partial(box.run, source=text, limits=limits, progress=progress, leash=leash)
    outcome = _run_and_judge(exercise, draw_up(exercise, seed).on(device), text, run)
    report = replace(_write(blank, exercise, outcome), dtype="float32" if outcome.single else "float64")
    return replace(report, seconds=round(time.perf_counter() - start, 4))


def _run_and_judge(exercise: Exercise, sheet: Sheet, text: str, run: _Runner) -> _Outcome:
    """Run and judge in float64, and once more in float32 where the code insists on that."""
    outcome = _run_once(exercise, sheet, run)
    if outcome.score < 100 and outcome.run.ending is Ending.FINISHED and names_single_precision(text):
        lower = _run_once(exercise, sheet.in_dtype("float32"), run)
        single = replace(lower, single=True)
        outcome = single if single.score > outcome.score else outcome
    return outcome


def _run_once(exercise: Exercise, sheet: Sheet, run: _Runner) -> _Outcome:
    with ThreadPoolExecutor(1) as beside:  # the reference runs here while the submission runs in the box
        running = beside.submit(run, sheet.plan)
        expected, rounded = observe_reference(exercise, sheet.plan)
        done = running.result()
    evidence = Evidence(sheet.plan, done.observations, expected, rounded, sheet.free)
    return _Outcome(done, evidence, judge(sheet.items, evidence))


def observe_reference(exercise: Exercise, plan: Plan) -> tuple[Observations, Observations]:
    """Return what the reference gives: the whole plan in float64, and the calls of lower precision as they are."""
    lower = frozenset(call.name for call in plan.calls if call.dtype != "float64")
    expected = observe_all(plan.in_double(), exercise.reference())
    rounded = observe_all(plan.only(lower), exercise.reference()) if lower else Observations()
    refused = {build.name for build in plan.builds if build.refused}
    events: list[CallSeen | BuildSeen] = [*expected.calls.values(), *expected.builds.values()]
    for event in events:
        if event.raised is not None and event.name not in refused:
            raise AuthorError(f"the reference of `{exercise.id}` fails in `{event.name}`: {explain(event.raised)}")
    if expected.loading is not None:
        raise AuthorError(f"the reference of `{exercise.id}` cannot be loaded: {explain(expected.loading)}")
    return expected, rounded


def _write(blank: Report, exercise: Exercise, outcome: _Outcome) -> Report:
    run, observed = outcome.run, outcome.run.observations
    output = clean(run.output)
    status, reason = _status(run)
    if status in (Status.REJECTED, Status.UNGRADABLE):
        return replace(blank, status=status, reason=reason, output=output)
    remarks = (*scoring.remarks(outcome.judged), *advice.remarks(observed))
    if outcome.single:
        remarks = (_SINGLE_ADVICE, *remarks)
    return replace(
        blank,
        status=status,
        reason=reason,
        score=outcome.score,
        dimensions=scoring.by_dimension(outcome.judged),
        checks=scoring.results(outcome.judged),
        diagnosis=diagnose(exercise, outcome.evidence) if outcome.score < 100 else (),
        advice=remarks,
        mapping=next((_cleaned(b.mapping) for b in observed.builds.values() if b.mapping), {}),
        figures=figures.draw(outcome.judged, outcome.evidence),
        output=output,
    )


def _cleaned(mapping: Mapping[str, str]) -> dict[str, str]:
    return {clean(name, limit=100): clean(place, limit=200) for name, place in mapping.items()}


def _status(run: Run) -> tuple[Status, str]:
    observed = run.observations
    if observed.loading is not None:
        return Status.REJECTED, clean(explain(observed.loading), limit=1000)
    unmatched = [b.raised for b in observed.builds.values() if b.raised and b.raised.blame is Blame.WEIGHTS]
    built = [b for b in observed.builds.values() if b.raised is None and b.mapping]
    if unmatched and not built:
        return Status.UNGRADABLE, clean(explain(unmatched[0]), limit=1000)
    return _STATUS[run.ending], _reason(run)


def _reason(run: Run) -> str:
    where = f" ({run.detail})" if run.detail else ""
    return {
        Ending.FINISHED: "",
        Ending.TIMEOUT: f"your code was stopped because it took too long{where}; what was finished before counts",
        Ending.MEMORY: f"your code was stopped because it used too much memory{where}; what was finished before counts",
        Ending.OUTPUT: "your code was stopped because it printed too much; what was finished before counts",
        Ending.CRASHED: f"your code ended its process{where}; what was finished before counts",
        Ending.PROTOCOL: f"your code disturbed the channel that carries its results{where}; what came before counts",
    }[run.ending]
