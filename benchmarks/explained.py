"""What wrong examples are told about the cause: a known mistake, the place where they begin to differ, or neither.

Goes over the wrong answers in `tests/submissions/`, graded in the sandbox as a student's would be, and says how many get
a diagnosis, how many a location, and which get neither, each with its failed checks. Times are processor time of the
search alone: of what is done after the verdict, in this process.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from grader.box.run import Box, Ending, Limits
from grader.examples import Example, read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.gate.trial import Trial, open_trial
from grader.judge.attempt import Outcome, attempt, tell
from grader.judge.grade import causes, observe_reference
from grader.judge.locating import locate
from grader.judge.report import Report, Status
from grader.judge.source import read_source
from grader.sandbox.choice import choose_box


@dataclass(frozen=True, slots=True)
class Told:
    """What one wrong example is told, and how many seconds of processor time the search took.

    Attributes:
        kind: `diagnosis`, `location`, `neither`, or why nothing was looked for: `refused`, `stopped`, `full marks`.
        text: the mistake's id, or the title and message of the location.
        checks: the messages of failed checks.
    """

    example: str
    kind: str
    text: str
    checks: tuple[str, ...]
    score: float
    causes_seconds: float
    place_seconds: float


def tell_of(trial: Trial, example: Example) -> Told:
    """Return what `example` is told."""
    exercise = trial.exercise
    limits = Limits(**exercise.spec.limits.model_dump())
    source = read_source(example.path.read_bytes(), limit_bytes=limits.source_bytes)
    run = partial(trial.box.run, source=source, limits=limits)
    outcome = attempt(trial.sheet, source, run, partial(_truth, trial), known=exercise.attempts)
    report = tell(Report(exercise.id, Status.REJECTED, 0.0, trial.seed, "cpu", 0.0), outcome)
    checks = tuple(f"{c.name}: {c.message}" for c in report.checks if c.status in ("failed", "skipped") and c.message)
    told = partial(Told, f"{exercise.id}/{example.path.stem}", checks=checks, score=outcome.score)
    if not report.checks or outcome.score == 100:
        return told(
            kind="refused" if outcome.score < 100 else "full marks",
            text=report.reason,
            causes_seconds=0.0,
            place_seconds=0.0,
        )
    start = time.thread_time()
    found = causes(exercise, outcome, report.lost)
    between = time.thread_time()
    if found:
        text = ", ".join(one.mistake for one in found)
        return told(kind="diagnosis", text=text, causes_seconds=between - start, place_seconds=0.0)
    return _placed(exercise, outcome, source, run, told, between - start)


def _placed(exercise, outcome, source, run, told, seconds):
    if outcome.run.ending is not Ending.FINISHED:
        return told(kind="stopped", text=str(outcome.run.ending), causes_seconds=seconds, place_seconds=0.0)
    again = (lambda plan: run(plan.placing(outcome.places))) if outcome.places else run
    start = time.thread_time()
    place = locate(exercise, outcome, source, again)
    took = time.thread_time() - start
    text = f"{place.step} | {place.title} | {place.message}" if place else ""
    return told(kind="location" if place else "neither", text=text, causes_seconds=seconds, place_seconds=took)


def _truth(trial: Trial, plan):
    return (
        (trial.truth.expected, trial.truth.rounded)
        if plan is trial.sheet.plan
        else observe_reference(trial.exercise, plan)
    )


def explained(
    only: Annotated[list[str] | None, typer.Argument(help="exercises; all that do not train if left out")] = None,
    every: Annotated[int, typer.Option(help="take one wrong example of so many")] = 6,
    start: int = 0,
    seed: int = 11,
    out: Path | None = None,
) -> None:
    torch.set_num_threads(1)
    box = choose_box(allow_plain=True)
    all_told = []
    examples = [
        (e, x)
        for e in Catalog.load().values()
        if not e.spec.entry.kind.trains
        for x in read_examples(e.id)
        if x.loses is not None
    ]
    examples = [pair for pair in examples[start::every] if not only or pair[0].id in only]
    trial = None
    sink = out.open("w") if out else None
    for exercise, example in examples:
        if trial is None or trial.exercise is not exercise:
            trial = open_trial(exercise, seed, box)
        try:
            told = tell_of(trial, example)
        except Exception as e:
            import traceback

            traceback.print_exc()
            told = Told(f"{exercise.id}/{example.path.stem}", "error", repr(e), (), 0, 0, 0)
        all_told.append(told)
        if sink:
            sink.write(json.dumps(asdict(told)) + "\n")
            sink.flush()
    print(Counter(t.kind for t in all_told))
    searched = sorted(
        t.causes_seconds + t.place_seconds for t in all_told if t.kind in ("diagnosis", "location", "neither")
    )
    print("median", statistics.median(searched), "p90", searched[int(len(searched) * 0.9)], "worst", searched[-1])


if __name__ == "__main__":
    typer.run(explained)
