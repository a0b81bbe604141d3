"""Adds up the points. A hundred is given only where every check passed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.exercise.spec import Dimension
from grader.judge.report import CheckResult, Points
from grader.judge.text import clean
from grader.judge.verdicts import Judged


def results(judged: Sequence[Judged]) -> tuple[CheckResult, ...]:
    """Return the lines of the report: every check that has points."""
    return tuple(_result(line) for line in judged if line.item.points)


def remarks(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the checks without points found wrong."""
    failed = (line for line in judged if not line.item.points and line.finding.verdict.value == "failed")
    return tuple(f"{line.item.name}: {clean(line.finding.message)}" for line in failed)


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


def _result(line: Judged) -> CheckResult:
    points = round(line.item.points, 2)
    return CheckResult(
        name=line.item.name,
        dimension=line.dimension,
        status=line.finding.verdict,
        earned=points if line.passed else 0.0,
        possible=points,
        message=clean(line.finding.message, limit=1000),
    )
