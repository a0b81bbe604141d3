"""The report on one attempt as Gradescope's `results.json` and as JUnit XML.

Each check is a test. Their points add up to the score to the last digit: a report rounds each of them by itself, so
hundredths may be missing or too many, and these are given to, or taken from, tests that have points.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from grader.judge.report import HALVED, CheckResult, Report, Status, Verdict
from grader.judge.text import clean

_FULL = 10_000  # hundredths: the points of a whole report
_WHOLE, _REST = "the whole answer", "what no single check accounts for"
_BROKEN = "A fault of the grader's kept this from being checked."


@dataclass(frozen=True, slots=True)
class _Test:
    """A check with its points in hundredths."""

    name: str
    dimension: str
    verdict: Verdict
    earned: int
    possible: int
    message: str


def results_json(report: Report, attempt: str) -> str:
    """Return a report as Gradescope reads it from `/autograder/results/results.json`; `attempt` is its id."""
    tests = _tests(report)
    written: dict[str, Any] = {
        "score": float(_points(_hundredths(report.score))),
        "execution_time": report.seconds,
        "output": _output(report),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"attempt": attempt, "exercise": report.exercise, "status": report.status.value},
        "tests": [_result(number, one) for number, one in enumerate(tests, start=1)],
    }
    return f"{json.dumps(written, indent=1, ensure_ascii=False)}\n"


def junit(report: Report, attempt: str) -> str:
    """Return a report as JUnit XML; the points are properties, `score` and `possible`, of the suite and of each test.

    A check that lost its points is a failure, one that builds on a failed one is skipped, a fault of ours is an error.
    """
    tests = _tests(report)
    count = {verdict: sum(one.verdict is verdict for one in tests) for verdict in Verdict}
    figures = {
        "tests": str(len(tests)), "failures": str(count[Verdict.FAILED]), "errors": str(count[Verdict.BROKEN]),
        "skipped": str(count[Verdict.SKIPPED]), "time": f"{report.seconds:.3f}",
    }  # fmt: skip
    suites = ElementTree.Element("testsuites", {"name": "attention-gym", **figures})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _text(report.exercise), **figures})
    total = {"score": _points(_hundredths(report.score)), "possible": _points(_FULL)}
    _properties(suite, {**total, "attempt": attempt, "status": report.status.value})
    for one in tests:
        named = {"classname": _text(f"{report.exercise}.{one.dimension}"), "name": _text(one.name), "time": "0.000"}
        case = ElementTree.SubElement(suite, "testcase", named)
        _properties(case, {"score": _points(one.earned), "possible": _points(one.possible)})
        _verdict(case, one)
    if output := _output(report):
        ElementTree.SubElement(suite, "system-out").text = output
    ElementTree.indent(suites)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(suites, encoding='unicode')}\n"


def _tests(report: Report) -> list[_Test]:
    """Return the checks with points that add up to the score; a report without checks is one test."""
    score = _hundredths(report.score)
    if not report.checks:
        verdict = Verdict.BROKEN if report.incident else Verdict.PASSED if score == _FULL else Verdict.FAILED
        return [_Test(_WHOLE, "score", verdict, score, _FULL, _output(report))]
    found = [_test(check) for check in report.checks]
    earned = _spread([one.earned for one in found], score, floors=[min(one.earned, 1) for one in found])
    most = [max(one.possible, mine) for one, mine in zip(found, earned, strict=True)]
    possible = _spread(most, _FULL, floors=earned)
    tests = [replace(one, earned=mine, possible=most) for one, mine, most in zip(found, earned, possible, strict=True)]
    rest, left = score - sum(earned), _FULL - sum(possible)
    if rest or left:
        tests.append(_Test(_REST, "score", Verdict.PASSED if rest == left else Verdict.FAILED, rest, left, ""))
    return tests


def _test(check: CheckResult) -> _Test:
    halved = check.status is Verdict.PASSED and check.earned < check.possible
    message = HALVED if halved else _BROKEN if check.status is Verdict.BROKEN else check.message
    earned, possible = _hundredths(check.earned), _hundredths(check.possible)
    return _Test(check.name, check.dimension, check.status, earned, possible, clean(message))


def _spread(points: list[int], total: int, floors: list[int]) -> list[int]:
    """Return `points` with a hundredth more or less at a time until their sum is `total`, as far as that goes.

    What has no points gets none, and nothing falls below its floor; the last ones are changed first.
    """
    found = list(points)
    while missing := total - sum(found):
        step = 1 if missing > 0 else -1
        may = [place for place, one in enumerate(found) if one > 0 and one + step >= floors[place]]
        if not may:
            break
        for place in may[-abs(missing) :]:
            found[place] += step
    return found


def _result(number: int, one: _Test) -> dict[str, Any]:
    return {
        "number": str(number),
        "name": _text(one.name),
        "score": float(_points(one.earned)),
        "max_score": float(_points(one.possible)),
        "status": "passed" if one.verdict is Verdict.PASSED else "failed",
        "output": one.message,
        "tags": [one.dimension],
        "visibility": "visible",
    }


def _verdict(case: ElementTree.Element, one: _Test) -> None:
    kinds = {Verdict.FAILED: "failure", Verdict.BROKEN: "error", Verdict.SKIPPED: "skipped"}
    if one.verdict not in kinds:
        if one.message:
            ElementTree.SubElement(case, "system-out").text = one.message
        return
    first = next(iter(one.message.splitlines()), "")
    told = ElementTree.SubElement(case, kinds[one.verdict], {"message": first, "type": one.dimension})
    told.text = one.message


def _properties(parent: ElementTree.Element, values: dict[str, str]) -> None:
    inside = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(inside, "property", {"name": name, "value": value})


def _output(report: Report) -> str:
    """Return what is told of a report as a whole."""
    return "\n\n".join(map(clean, filter(None, _paragraphs(report))))


def _paragraphs(report: Report) -> Iterable[str]:
    if report.incident:
        yield _BROKEN
    if report.status is not Status.GRADED:
        yield f"{report.status.value}: {report.reason}" if report.reason else report.status.value
    for likely in report.diagnosis:
        yield f"{likely.title}\n{likely.message}"
    if report.location is not None and not report.diagnosis:
        yield f"{report.location.title}\n{report.location.message}"


def _text(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")


def _hundredths(points: float) -> int:
    return round(Decimal(str(points)) * 100)


def _points(hundredths: int) -> str:
    return f"{Decimal(hundredths) / 100:.2f}"
