"""Adds up the points. A hundred is given only where every check passed.

Shapes, gradients that merely flow, and who depends on whom can be had without any attention. So what passes earns half
of its points until the numbers of two cases are right: those of a single token often are by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.checks.finding import Verdict
from grader.checks.registry import CHECKS
from grader.checks.traits import Trait
from grader.exercise.spec import Dimension
from grader.judge.report import SAME_AS, CheckResult, Points, Property
from grader.judge.text import clean
from grader.judge.verdicts import Judged

_ENOUGH = 2  # cases, none of them easy, whose numbers are right, for what passed to earn all of its points
_MANY = 4  # cases whose numbers are compared; with fewer of them, one that is right says enough
_LONG = 80  # characters; what is shorter is as quickly read again as looked up


def results(judged: Sequence[Judged]) -> tuple[CheckResult, ...]:
    """Return the lines of the report: every check that has points. A long reason is told once, and then referred to."""
    told: dict[str, str] = {}
    lines = [line for line in judged if line.item.points]
    share = _worth(judged)
    return tuple(_result(line, told.setdefault(line.finding.message, line.item.name), share) for line in lines)


def remarks(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the checks without points found wrong, or could not look at, but for those that are properties.

    Where numbers are wrong that points depend on, what fails has nothing to do with the case that is tried for advice;
    nor has what a check with points says as well.
    """
    free = (line for line in judged if not line.item.points and not line.item.spec.teaches)
    found = (line for line in free if line.finding.verdict in (Verdict.FAILED, Verdict.BROKEN))
    lost = [line for line in judged if line.item.points and line.finding.verdict is Verdict.FAILED]
    if any(Trait.SHOWS_OUTPUTS in line.item.check.traits for line in lost):
        found = (line for line in found if line.finding.verdict is Verdict.BROKEN)
    told = {line.finding.message for line in lost}
    new = (line for line in found if line.finding.message not in told)
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
    spec, failures = lines[0].item.spec, [line for line in lines if line.finding.verdict is Verdict.FAILED]
    failures.sort(key=lambda line: line.finding.besides)
    denied = bool(failures) and not failures[0].finding.besides
    holds = True if all(line.passed for line in lines) else (False if denied else None)
    message = clean(failures[0].finding.message, limit=1000) if failures else ""
    return Property(spec.title or CHECKS[spec.check].title, teaches, holds, message)


def _worth(judged: Sequence[Judged]) -> float:
    """Return the share of its points that a check earns which passed."""
    compared = [line for line in judged if line.item.points and Trait.SHOWS_OUTPUTS in line.item.check.traits]
    right = sum(line.passed for line in compared if not line.item.case.easy)
    return 0.5 if len(compared) >= _MANY and right < _ENOUGH else 1.0


def by_dimension(judged: Sequence[Judged]) -> dict[Dimension, Points]:
    """Return points earned and possible for each dimension that the exercise has."""
    totals: dict[Dimension, Points] = {}
    share = _worth(judged)
    for dimension in Dimension:
        lines = [line for line in judged if line.dimension is dimension and line.item.points]
        if lines:
            possible = sum(line.item.points for line in lines)
            earned = possible if all(line.passed for line in lines) else sum(x.item.points for x in lines if x.passed)
            totals[dimension] = Points(round(earned * share, 2), round(possible, 2))
    return totals


def score(judged: Sequence[Judged]) -> float:
    """Return 0 to 100 with two decimals; rounding never lifts an answer to 100."""
    lines = [line for line in judged if line.item.points]
    if lines and all(line.passed for line in lines):
        return 100.0
    return min(round(math.fsum(line.item.points for line in lines if line.passed) * _worth(judged), 2), 99.99)


def lost(judged: Sequence[Judged]) -> tuple[Dimension, ...]:
    """Return the dimensions in which a check did not pass."""
    failed = {line.dimension for line in judged if line.item.points and not line.passed}
    return tuple(dimension for dimension in Dimension if dimension in failed)


def _result(line: Judged, first: str, share: float) -> CheckResult:
    points = round(line.item.points, 2)
    message = line.finding.message
    if line.finding.verdict is Verdict.FAILED and line.item.case.drawn:  # a check's name is the same for every seed
        message = f"with {line.item.case.drawn}: {message}"
    if first != line.item.name and len(message) > _LONG and line.finding.verdict is Verdict.FAILED:
        message = SAME_AS.format(first)
    return CheckResult(
        name=line.item.name,
        dimension=line.dimension,
        status=line.finding.verdict,
        earned=round(line.item.points * share, 2) if line.passed else 0.0,
        possible=points,
        message=clean(message, limit=1000),
    )
