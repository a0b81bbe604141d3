"""Judges a whole sheet, every item once after those that it builds on, and adds up the points.

A check whose judge raises is broken, by our fault, and never costs points. It gives them where it breaks on the truth
in the same way: then the submission had no part in it. Where it breaks on this submission only, giving them would pay
whoever finds out how; the report then stays open, and the points of the other checks count.

A hundred is given only where every check passed. Shapes, gradients that merely flow, and who depends on whom can be had
without any attention. So what passes earns half of its points until the numbers of two cases are right: those of a
single token often are by themselves.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType

from grader.checks.evidence import Evidence, Item, Trait
from grader.checks.finding import Finding, Verdict, skipped
from grader.errors import record
from grader.exercise.spec import Dimension
from grader.judge.report import SAME_AS, CheckResult, Points, Property
from grader.judge.text import clean

LOG = logging.getLogger(__name__)
_STOPS = (Verdict.FAILED, Verdict.SKIPPED)  # what builds on one that broke is looked at all the same
_ENOUGH = 2  # cases, none of them easy, whose numbers are right, for what passed to earn all of its points
_MANY = 4  # cases whose numbers are compared; with fewer of them, one that is right says enough
_LONG = 80  # characters; what is shorter is as quickly read again as looked up


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """An item with its finding."""

    item: Item
    finding: Finding

    @property
    def passed(self) -> bool:
        """Whether the item earned its points."""
        return self.finding.verdict is Verdict.PASSED or self.finding.granted

    @property
    def dimension(self) -> Dimension:
        """The dimension whose points it is about."""
        return self.item.check.dimension


def judge(items: tuple[Item, ...], evidence: Evidence) -> tuple[Judged, ...]:
    """Return every item with its finding, in the order of the sheet."""
    done: dict[str, Finding] = {}
    by_kind: dict[tuple[str, int], list[Item]] = {}
    for item in items:
        by_kind.setdefault((item.spec.check, id(item.case)), []).append(item)

    def settle(item: Item) -> Finding:
        if item.name not in done:
            earlier = [other for kind in item.check.needs for other in by_kind.get((kind, id(item.case)), ())]
            blocker = next((x for x in earlier if settle(x).verdict in _STOPS and not done[x.name].alone), None)
            if blocker is None:
                done[item.name] = _look(item, evidence)
            elif done[blocker.name].verdict is Verdict.SKIPPED:
                done[item.name] = done[blocker.name]  # the cause is the same, and said once
            else:
                done[item.name] = skipped(f"because “{blocker.name}” did not pass")
        return done[item.name]

    lines = tuple(Judged(item, settle(item)) for item in items)
    if all(line.finding.verdict is Verdict.BROKEN for line in lines):  # nothing was looked at: that is no pass
        return tuple(replace(line, finding=replace(line.finding, granted=False)) for line in lines)
    return lines


def _look(item: Item, evidence: Evidence) -> Finding:
    try:
        return item.check.judge(item, evidence)
    except Exception as fault:  # noqa: BLE001 - a judge has no reason to raise, so whatever it is, it is ours
        incident = record(LOG, f"the check “{item.name}” broke", fault)
        granted = _cause(fault) == _cause_on_the_truth(item, evidence)
    points = "you get its points" if granted else "its result is open"
    message = (
        f"it could not be checked because of an error in the grader; {points}. The id for your instructor is {incident}"
    )
    return Finding(Verdict.BROKEN, message, incident, granted)


def _cause_on_the_truth(item: Item, evidence: Evidence) -> tuple[type, str, int] | None:
    try:
        item.check.judge(item, replace(evidence, observed=evidence.expected))
    except Exception as fault:  # noqa: BLE001 - as above
        return _cause(fault)
    return None


def _cause(fault: Exception) -> tuple[type, str, int] | None:
    trace: TracebackType | None = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else (type(fault), trace.tb_frame.f_code.co_filename, trace.tb_lineno)


def score(judged: Sequence[Judged]) -> float:
    """Return 0 to 100 with two decimals; rounding never lifts an answer to 100."""
    lines = [line for line in judged if line.item.points]
    if lines and all(line.passed for line in lines):
        return 100.0
    return min(round(math.fsum(line.item.points for line in lines if line.passed) * _share(judged), 2), 99.99)


def _share(judged: Sequence[Judged]) -> float:
    """Return the share of its points that a check earns which passed."""
    compared = [line for line in judged if line.item.points and line.item.has(Trait.SHOWS_OUTPUTS)]
    right = sum(line.passed for line in compared if not line.item.case.easy)
    return 0.5 if len(compared) >= _MANY and right < _ENOUGH else 1.0


def by_dimension(judged: Sequence[Judged]) -> dict[Dimension, Points]:
    """Return points earned and possible for each dimension that the exercise has."""
    totals: dict[Dimension, Points] = {}
    share = _share(judged)
    for dimension in Dimension:
        lines = [line for line in judged if line.dimension is dimension and line.item.points]
        if lines:
            possible = sum(line.item.points for line in lines)
            earned = possible if all(line.passed for line in lines) else sum(x.item.points for x in lines if x.passed)
            totals[dimension] = Points(round(earned * share, 2), round(possible, 2))
    return totals


def lost(judged: Sequence[Judged]) -> tuple[Dimension, ...]:
    """Return the dimensions in which a check did not pass."""
    failed = {line.dimension for line in judged if line.item.points and not line.passed}
    return tuple(dimension for dimension in Dimension if dimension in failed)


def results(judged: Sequence[Judged]) -> tuple[CheckResult, ...]:
    """Return the lines of the report: every check that has points.

    A long reason is told once in a dimension, and then referred to; one dimension may be shown without the others.
    """
    first: dict[tuple[Dimension, str], str] = {}  # by reason, the check that told it
    share = _share(judged)
    lines = [line for line in judged if line.item.points]
    told = [first.setdefault((line.dimension, line.finding.message), line.item.name) for line in lines]
    return tuple(_result(line, name, share) for line, name in zip(lines, told, strict=True))


def _result(line: Judged, first: str, share: float) -> CheckResult:
    item, message, has_failed = line.item, line.finding.message, line.finding.verdict is Verdict.FAILED
    if has_failed and item.case.drawn:  # a check's name is the same for every seed
        message = f"with {item.case.drawn}: {message}"
    if has_failed and first != item.name and len(message) > _LONG:
        message = SAME_AS.format(first)
    earned = round(item.points * share, 2) if line.passed else 0.0
    possible = round(item.points, 2)
    return CheckResult(item.name, line.dimension, line.finding.verdict, earned, possible, clean(message, limit=1000))


def remarks(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the checks without points found wrong, or could not look at, but for those that are properties.

    Where numbers are wrong that points depend on, what fails has nothing to do with the case that is tried for advice;
    nor has what a check with points says as well.
    """
    failures = [line for line in judged if line.item.points and line.finding.verdict is Verdict.FAILED]
    numbers_are_wrong = any(line.item.has(Trait.SHOWS_OUTPUTS) for line in failures)
    worth_it = (Verdict.BROKEN,) if numbers_are_wrong else (Verdict.FAILED, Verdict.BROKEN)
    told = {line.finding.message for line in failures}
    free = (line for line in judged if not line.item.points and not line.item.spec.teaches)
    new = (line for line in free if line.finding.verdict in worth_it and line.finding.message not in told)
    return tuple(f"{line.item.name}: {clean(line.finding.message)}" for line in new)


def properties(judged: Sequence[Judged]) -> tuple[Property, ...]:
    """Return the checks that are shown as properties of the answer, each once for all of its cases.

    One holds if all of them passed, and does not if one failed for its own reason; else it was not seen.
    """
    taught: dict[str, list[Judged]] = {}
    for line in judged:
        if line.item.spec.teaches:
            taught.setdefault(line.item.spec.teaches, []).append(line)
    return tuple(_property(teaches, lines) for teaches, lines in taught.items())


def _property(teaches: str, lines: Sequence[Judged]) -> Property:
    spec, failures = lines[0].item.spec, [line.finding for line in lines if line.finding.verdict is Verdict.FAILED]
    failures.sort(key=lambda finding: finding.besides)
    denied = bool(failures) and not failures[0].besides
    holds = True if all(line.passed for line in lines) else (False if denied else None)
    message = clean(failures[0].message, limit=1000) if failures else ""
    return Property(spec.title or lines[0].item.check.title, teaches, holds, message)
