"""Adds up the points. A hundred is given only where every check passed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.checks.finding import Verdict
from grader.checks.registry import CHECKS
from grader.exercise.spec import Dimension
from grader.judge.report import SAME_AS, CheckResult, Points, Property
from grader.judge.text import clean
from grader.judge.verdicts import Judged

_LONG = 80  # characters; what is shorter is as quickly read again as looked up


def results(judged: Sequence[Judged]) -> tuple[CheckResult, ...]:
    """Return the lines of the report: every check that has points. A long reason is told once, and then referred to."""
    told: dict[str, str] = {}
    lines = [line for line in judged if line.item.points]
    return tuple(_result(line, told.setdefault(line.finding.message, line.item.name)) for line in lines)


def remarks(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the checks without points found wrong, or could not look at, but for those that are properties.

    What a check with points fails for as well has nothing to do with the case that is tried for advice.
    """
    free = (line for line in judged if not line.item.points and not line.item.spec.teaches)
    found = (line for line in free if line.finding.verdict in (Verdict.FAILED, Verdict.BROKEN))
    told = {line.finding.message for line in judged if line.item.points and line.finding.verdict is Verdict.FAILED}
    new = (line for line in found if line.finding.message not in told)
    return tuple(f"{line.item.name}: {clean(line.finding.message)}" for line in new)


def properties(judged: Sequence[Judged]) -> tuple[Property, ...]:
    """Return the checks that are shown as properties of the answer, each once for all of its cases."""
    taught: dict[str, list[Judged]] = {}
    for line in judged:
        if line.item.spec.teaches:
            taught.setdefault(line.item.spec.teaches, []).append(line)
    return tuple(_property(teaches, lines) for teaches, lines in taught.items())


def _property(teaches: str, lines: Sequence[Judged]) -> Property:
    spec, failures = lines[0].item.spec, [line for line in lines if line.finding.verdict is Verdict.FAILED]
    holds = True if all(line.passed for line in lines) else (False if failures else None)
    message = clean(failures[0].finding.message, limit=1000) if failures else ""
    return Property(spec.title or CHECKS[spec.check].title, teaches, holds, message)


def by_dimension(judged: Sequence[Judged]) -> dict[Dimension, Points]:
    """Return points earned and possible for each dimension that the exercise has."""
    totals: dict[Dimension, Points] = {}
    for dimension in Dimension:
        lines = [line for line in judged if line.dimension is dimension and line.item.points]
        if lines:
            possible = sum(line.item.points for line in lines)
            earned = possible if all(line.passed for line in lines) else sum(x.item.points for x in lines if x.passed)
            totals[dimension] = Points(round(earned, 2), round(possible, 2))
    return totals


def score(judged: Sequence[Judged]) -> float:
    """Return 0 to 100 with two decimals; rounding never lifts an answer to 100."""
    lines = [line for line in judged if line.item.points]
    if lines and all(line.passed for line in lines):
        return 100.0
    return min(round(math.fsum(line.item.points for line in lines if line.passed), 2), 99.99)


def _result(line: Judged, first: str) -> CheckResult:
    points = round(line.item.points, 2)
    message = line.finding.message
    if first != line.item.name and len(message) > _LONG and line.finding.verdict is Verdict.FAILED:
        message = SAME_AS.format(first)
    return CheckResult(
        name=line.item.name,
        dimension=line.dimension,
        status=line.finding.verdict,
        earned=points if line.passed else 0.0,
        possible=points,
        message=clean(message, limit=1000),
    )
