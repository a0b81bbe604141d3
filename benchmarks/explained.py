"""What wrong examples are told about the cause: a known mistake, the place where they begin to differ, or neither.

Goes over the wrong answers in `exercises/*/examples/`, graded in the sandbox as a student's would be, and says how many
get a diagnosis, how many a location, and which get neither, each with its failed checks. Times are processor time
of the search alone: of what is done after the verdict, in this process.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Limits
from grader.examples import Example, read_examples
from grader.exercise.catalog import Catalog
from grader.gate.prove import Trial, open_trial
from grader.judge.attempt import Outcome, attempt, tell
from grader.judge.explain.diagnosis import causes
from grader.judge.explain.location import locate
from grader.judge.explain.trace import Runner, WrongAnswer
from grader.judge.grade import observe_reference
from grader.judge.report import CheckResult, Report, Status
from grader.judge.source import read_source
from grader.sandbox.choice import choose_box

_SEARCHED = ("diagnosis", "location", "right numbers only", "neither")


@dataclass(frozen=True, slots=True)
class Told:
    """What one wrong example is told, and how many seconds of processor time the search took.

    Attributes:
        kind: `diagnosis`, `location`, `right numbers only`, `neither`, or why nothing was looked for: `refused`,
            `stopped`, `full marks`.
        text: the mistake's id, or the title and message of the location.
        checks: the messages of failed checks.
    """

    example: str
    kind: str
    text: str = ""
    checks: tuple[str, ...] = ()
    causes_seconds: float = 0.0
    place_seconds: float = 0.0


def told_of(trial: Trial, example: Example) -> Told:
    """Return what `example` is told."""
    exercise, name = trial.exercise, f"{trial.exercise.id}/{example.path.stem}"
    limits = Limits(**exercise.spec.limits.model_dump())
    source = read_source(example.path.read_bytes(), limit_bytes=limits.source_bytes)
    run = partial(trial.box.run, source=source, limits=limits)
    outcome = attempt(
        trial.sheet,
        source,
        partial(trial.box.run, limits=limits),
        partial(_truth, trial),
        known=exercise.attempts,
    )
    report = tell(Report(exercise.id, Status.REJECTED, 0.0, trial.seed, "cpu", 0.0), outcome)
    told = partial(Told, name, checks=tuple(f"{one.name}: {one.message}" for one in report.checks if _is_lost(one)))
    if not report.checks or outcome.score == 100:
        return told(kind="full marks" if outcome.score == 100 else "refused", text=report.reason)
    start = time.thread_time()
    found = causes(exercise, outcome, report.lost)
    seconds = time.thread_time() - start
    if found:
        return told(kind="diagnosis", text=", ".join(one.mistake for one in found), causes_seconds=seconds)
    if outcome.run.ending is not Ending.FINISHED:
        return told(kind="stopped", text=str(outcome.run.ending), causes_seconds=seconds)
    start = time.thread_time()
    kind, text = _place(trial, outcome, source, run)
    return told(kind=kind, text=text, causes_seconds=seconds, place_seconds=time.thread_time() - start)


def _is_lost(check: CheckResult) -> bool:
    return check.status == "failed" and bool(check.message)


def _place(trial: Trial, outcome: Outcome, source: str, run: Runner) -> tuple[str, str]:
    again = (lambda plan: run(plan.placing(outcome.places))) if outcome.places else run
    place = locate(WrongAnswer(trial.exercise, outcome, source, again))
    if place is None:
        return "neither", ""
    is_vague = place.line is None and not place.step and place.title.startswith("These of your numbers")
    return "right numbers only" if is_vague else "location", f"{place.step} | {place.title} | {place.message}"


def _truth(trial: Trial, plan: Plan) -> tuple[Observations, Observations]:
    if plan is trial.sheet.plan:
        return trial.truth.expected, trial.truth.rounded
    return observe_reference(trial.exercise, plan)


def explained(
    only: Annotated[list[str] | None, typer.Argument(help="exercises; all that do not train if left out")] = None,
    every: Annotated[int, typer.Option(help="take one wrong example of so many")] = 6,
    seed: int = 11,
    out: Annotated[Path | None, typer.Option(help="write here what each is told, a JSON object a line")] = None,
) -> None:
    """Count what wrong examples are told about the cause, and list those that are told nothing."""
    torch.set_num_threads(1)
    box, catalog, found = choose_box(allow_plain=True), Catalog.load(), list[Told]()
    for exercise, examples in _sample(catalog, every).items():
        if examples and (not only or exercise in only):
            trial = open_trial(catalog[exercise], seed, box)
            found += [told_of(trial, example) for example in examples]
    for told in found:
        if told.kind in ("neither", "right numbers only"):
            typer.echo("\n    ".join([f"{told.example}: {told.kind}", *told.checks[:3]]))
    if out is not None:
        out.write_text("".join(json.dumps(asdict(told)) + "\n" for told in found), encoding="utf-8")
    _sum_up(found)


def _sample(catalog: Catalog, every: int) -> dict[str, list[Example]]:
    """Return by exercise one of so many wrong examples, counted through all exercises."""
    trained = {name for name, exercise in catalog.items() if exercise.spec.entry.kind.trains}
    names = [name for name in catalog if name not in trained]
    examples = [(name, one) for name in names for one in read_examples(catalog[name].folder)]
    wrong = [(name, one) for name, one in examples if one.loses is not None][::every]
    return {name: [one for owner, one in wrong if owner == name] for name in names}


def _sum_up(found: list[Told]) -> None:
    counts = Counter(told.kind for told in found)
    typer.echo(f"{len(found)} wrong examples: {dict(counts)}")
    seconds = sorted(told.causes_seconds + told.place_seconds for told in found if told.kind in _SEARCHED)
    if seconds:
        typer.echo(
            f"seconds of processor time: median {statistics.median(seconds):.2f}, nine of ten below "
            f"{seconds[int(0.9 * len(seconds))]:.2f}, worst {seconds[-1]:.2f}"
        )
