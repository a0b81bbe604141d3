"""Says after a verdict what went wrong: the known mistake, and the place where the answer begins to differ.

Nothing here gives or takes points. What fails in here leaves a line among the advice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from grader.box.cancel import CancelToken
from grader.box.observations import Observations
from grader.box.run import Ending
from grader.exercise.catalog import Exercise
from grader.exercise.spec import Dimension
from grader.judge.attempt import Outcome, Runner
from grader.judge.bounded import while_there_is_time, within
from grader.judge.diagnosis import diagnose
from grader.judge.effort import USUAL, Budget, Effort
from grader.judge.locating import locate
from grader.judge.optional_parts import OptionalParts
from grader.judge.recall import Memory
from grader.judge.report import Diagnosis, Location, Report
from grader.judge.retrace import Retrace
from grader.judge.text import clean
from grader.judge.unfinished import unfinished

_CUT = "the search for a known mistake that explains your results ended before all mistakes, and all pairs, were tried"


def explained(
    exercise: Exercise,
    report: Report,
    outcome: Outcome,
    *,
    text: str,
    run: Runner,
    budget: Budget = USUAL,
    cancel: CancelToken | None = None,
) -> Report:
    """Return `report` with the cause of what went wrong, and with where it begins.

    Args:
        exercise: what the answer is for.
        report: the verdict.
        outcome: what became of the answer.
        text: its source.
        run: runs a plan on it once more.
        budget: what may be done.
        cancel: ends the search.

    Raises:
        Stopped: it was cancelled.
    """
    if outcome.score == 100 or not report.checks:
        return report
    effort = Effort(budget.search)
    look = partial(causes, exercise, outcome, report.lost, cancel=cancel, effort=effort)
    report = _with_diagnosis(report, look, effort)
    if outcome.run.ending is Ending.TIMEOUT:
        again = Retrace(exercise, outcome, text, run, cancel or CancelToken())
        return _with_location(report, partial(unfinished, again))
    if outcome.run.ending is not Ending.FINISHED:
        return report
    run = while_there_is_time(run, budget.rerun_seconds)
    find = partial(locate, exercise, outcome, text, run, effort=budget.location, cancel=cancel)
    return _with_location(report, partial(within, budget.comparisons, find))


def _with_diagnosis(report: Report, look: Callable[[], tuple[Diagnosis, ...]], effort: Effort) -> Report:
    """Return `report` with the cause of what went wrong."""
    optional = OptionalParts()
    found: tuple[Diagnosis, ...] = ()
    found = optional.make("the cause is", look, found)
    cut = (_CUT,) if effort.spent and not found else ()
    return replace(report, diagnosis=found, advice=(*report.advice, *cut, *optional.missing))


def _with_location(report: Report, find: Callable[[], Location | None]) -> Report:
    """Return `report` with the place where the answer begins to differ."""
    optional = OptionalParts()
    found = optional.make("the place where your code first differs is", find, None)
    if found is not None and report.diagnosis and found.line is None:
        found = None  # what is known to be right says less than a mistake by its name
    return replace(report, location=found and _cleaned(found), advice=(*report.advice, *optional.missing))


def _cleaned(found: Location) -> Location:
    """Return a location that may quote the answer's own words, as it can be shown anywhere."""
    title = clean(" ".join(found.title.split()), limit=200)
    return replace(found, title=title, message=clean(found.message, limit=4000))


def causes(
    exercise: Exercise,
    outcome: Outcome,
    lost: Collection[Dimension],
    known: Mapping[str, Observations] | None = None,
    *,
    cancel: CancelToken | None = None,
    memory: Memory | None = None,
    effort: Effort | None = None,
) -> tuple[Diagnosis, ...]:
    """Return the mistakes that explain an outcome; a cancelled `cancel` ends the search with `Stopped`.

    Searches with the same exercise and seed may share one `memory`; `effort` is what may be done.

    Code that asks for float32 by name is looked at in float32 first: in float64 its mistake is likely to be hidden by
    rounding, and a search that finds nothing tries every pair. What is found is certain if float64 agrees.
    """
    look = partial(diagnose, exercise, lost=lost, cancel=cancel, memory=memory, effort=effort)
    if outcome.coarse is not None and (found := look(outcome.coarse)):
        return look(outcome.evidence, known, among={one.mistake for one in found}) or found
    return look(outcome.evidence, {} if outcome.single else known)
