"""Reports for Gradescope and as JUnit, read by programs that are not ours."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import jsonschema
import junitparser
import pytest
from junitparser import xunit2

from grader.exports.attempts import junit, results_json
from grader.judge.report import HALVED, CheckResult, Diagnosis, Dimension, Report, Status, Verdict

VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
# From Gradescope's description of its results.json; `number` and the rest are free, but nothing else is known there.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests"],
    "properties": {
        "score": {"type": "number", "minimum": 0}, "execution_time": {"type": "number"}, "output": {"type": "string"},
        "output_format": FORMAT, "test_output_format": FORMAT, "test_name_format": FORMAT, "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY, "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["score", "max_score", "name"],
                "properties": {
                    "score": {"type": "number", "minimum": 0}, "max_score": {"type": "number", "minimum": 0},
                    "status": {"enum": ["passed", "failed"]}, "name": {"type": "string", "minLength": 1},
                    "name_format": FORMAT, "number": {"type": "string"}, "output": {"type": "string"},
                    "output_format": FORMAT, "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": VISIBILITY, "extra_data": {"type": "object"},
                },
            },
        },
    },
}  # fmt: skip
NUMERICS: Dimension = "numerics"  # type: ignore[assignment]


def _check(name: str, verdict: Verdict, earned: float, possible: float, message: str = "") -> CheckResult:
    return CheckResult(name, NUMERICS, verdict, earned, possible, message)


def _report(score: float, *checks: CheckResult, **more: Any) -> Report:
    return Report("softmax", more.pop("status", Status.GRADED), score, 7, "cpu", 1.25, checks=checks, **more)


def _of_gradescope(report: Report) -> tuple[Decimal, Decimal, Decimal]:
    """Return the score, the sum of the tests' points, and what these could have been, as the file writes them."""
    found = json.loads(results_json(report, "x1"), parse_float=Decimal)
    jsonschema.validate(json.loads(results_json(report, "x1")), SCHEMA)
    earned, possible = ([one[name] for one in found["tests"]] for name in ("score", "max_score"))
    return found["score"], sum(earned, Decimal(0)), sum(possible, Decimal(0))


def _of_junit(report: Report) -> tuple[Decimal, Decimal, Decimal]:
    suite = _suite(report)
    points = [{one.name: Decimal(one.value) for one in case.properties()} for case in suite]
    total = next(Decimal(one.value) for one in suite.properties() if one.name == "score")
    return (
        total,
        sum((one["score"] for one in points), Decimal(0)),
        sum((one["possible"] for one in points), Decimal(0)),
    )


def _suite(report: Report) -> xunit2.TestSuite:
    (suite,) = xunit2.JUnitXml.fromstring(junit(report, "x1").encode())
    return suite


THIRDS = _report(
    66.67,
    _check("a: values", Verdict.PASSED, 33.33, 33.33),
    _check("b: values", Verdict.PASSED, 33.33, 33.33),
    _check("c: values", Verdict.FAILED, 0.0, 33.33, "expected 1, saw 2"),
)
REPORTS = {
    "thirds": THIRDS,
    "all thirds": _report(100.0, *(_check(name, Verdict.PASSED, 33.33, 33.33) for name in "abc")),
    "rounded up": _report(100.0, *(_check(f"c{n}", Verdict.PASSED, 16.67, 16.67) for n in range(6))),
    "sevenths, halved": _report(42.86, *(_check(f"c{n}", Verdict.PASSED, 7.14, 14.29) for n in range(6)),
                                _check("last", Verdict.FAILED, 0.0, 14.29)),
    "a given score": _report(82.27),
    "nothing": _report(0.0, _check("a", Verdict.FAILED, 0.0, 100.0)),
    "rejected": _report(0.0, status=Status.REJECTED, reason="no function `softmax`"),
    "never quite full": _report(99.99, _check("a", Verdict.PASSED, 100.0, 100.0), _check("b", Verdict.FAILED, 0.0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("read", [_of_gradescope, _of_junit])
@pytest.mark.parametrize("name", REPORTS)
def test_the_points_of_the_tests_are_the_score_to_the_last_digit(name: str, read: Any) -> None:
    """However each check was rounded, in halved reports and in those without a check too."""
    report = REPORTS[name]

    assert read(report) == (Decimal(str(report.score)), Decimal(str(report.score)), Decimal(100))


def test_a_thousand_rounded_reports_add_up() -> None:
    """Checks of random weights, rounded one by one as the judge does it."""
    chance, verdict = random.Random(20261128), {True: Verdict.PASSED, False: Verdict.FAILED}
    for _ in range(1000):
        weights = [chance.randint(1, 30) for _ in range(chance.randint(1, 60))]
        share, exact = chance.choice((1.0, 0.5)), [100 * one / sum(weights) for one in weights]
        passed = [chance.random() < 0.7 for _ in weights]
        checks = [
            _check(str(number), verdict[well], round(one * share, 2) if well else 0.0, round(one, 2))
            for number, (one, well) in enumerate(zip(exact, passed, strict=True))
        ]
        earned = sum(one for one, well in zip(exact, passed, strict=True) if well)
        report = _report(round(earned * share, 2), *checks)
        score = Decimal(str(report.score))
        assert _of_junit(report) == (score, score, Decimal(100))
        tests = json.loads(results_json(report, "x1"), parse_float=Decimal)["tests"]
        assert [one["name"] for one in tests if one["score"] > one["max_score"] or one["score"] < 0] == []
        assert [one["name"] for one, well in zip(tests, passed, strict=True) if bool(one["score"]) != well] == []


def test_each_verdict_is_what_junit_calls_it() -> None:
    """Failed, skipped because another failed, and broken by a fault of ours; a passed one has no child of these."""
    report = _report(
        25.0,
        _check("passed", Verdict.PASSED, 25.0, 25.0),
        _check("failed", Verdict.FAILED, 0.0, 25.0, "expected 1\nsaw 2"),
        _check("skipped", Verdict.SKIPPED, 0.0, 25.0, "needs `failed`"),
        _check("broken", Verdict.BROKEN, 0.0, 25.0),
    )
    suite = _suite(report)
    results = {case.name: [type(one) for one in case.result] for case in suite}

    assert results == {
        "passed": [], "failed": [junitparser.Failure], "skipped": [junitparser.Skipped], "broken": [junitparser.Error]
    }  # fmt: skip
    assert (suite.tests, suite.failures, suite.skipped, suite.errors, suite.time) == (4, 1, 1, 1, 1.25)
    failed = next(case for case in suite if case.name == "failed")
    assert (failed.result[0].message, failed.result[0].text) == ("expected 1", "expected 1\nsaw 2")
    assert failed.classname == "softmax.numerics"


def test_what_a_student_wrote_breaks_neither_file() -> None:
    """Markup, controls, halves of characters and the end of a section of text, in messages, names and reasons."""
    odd = "]]></failure><failure>\x00\x1b[2J\ud800\uffff & \"'\u202e"
    report = _report(
        50.0,
        _check(odd, Verdict.FAILED, 0.0, 50.0, odd),
        _check("fine", Verdict.PASSED, 50.0, 50.0),
        diagnosis=(Diagnosis("one", odd, odd, certain=True),),
    )
    suite = _suite(report)

    assert [case.name for case in suite] == [
        "]]></failure><failure><U+0000><U+001B>[2J<U+D800><U+FFFF> & \"'<U+202E>", "fine"
    ]  # fmt: skip
    assert len([one for case in suite for one in case.result]) == 1
    assert _of_gradescope(report) == (50, 50, 100)


def test_a_halved_check_says_why_in_gradescope() -> None:
    """It passed, and has half of its points."""
    tests = json.loads(results_json(REPORTS["sevenths, halved"], "x1"))["tests"]

    assert {(one["status"], one["output"]) for one in tests[:6]} == {("passed", HALVED)}
    assert [one["status"] for one in tests[6:]] == ["failed"]


def test_a_fault_of_ours_is_an_error_and_no_failure() -> None:
    """A report with an incident has no verdict."""
    (case,) = _suite(_report(0.0, incident="1f"))

    assert [type(one) for one in case.result] == [junitparser.Error]
