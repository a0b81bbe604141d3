"""A check that breaks is our fault: what it gives, what stays open, and what builds on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.box.inline import InlineBox
from grader.box.observations import Presence, Seen
from grader.box.run import Ending, Limits, Run
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.attempt import Outcome, tell
from grader.judge.grade import observe_reference
from grader.judge.report import Report, Status
from grader.judge.sheet import draw_up
from grader.judge.verdicts import judge


@pytest.fixture(scope="module")
def exercise(catalog: Catalog) -> Exercise:
    """Give one exercise."""
    return catalog["softmax"]


def report_on(exercise: Exercise, hole: Seen) -> Report:
    """Return the report on a right answer in which one output is `hole`, which the wire would never let through."""
    sheet = draw_up(exercise, 0)
    source = exercise.reference_path.read_text(encoding="utf-8")
    right = InlineBox().run(sheet.plan, source, Limits()).observations
    expected, rounded = observe_reference(exercise, sheet.plan)
    call = right.calls["small/base"]
    damaged = replace(call, slots={**call.slots, "output:softmax": hole})
    observed = replace(right, calls={**right.calls, call.name: damaged})
    evidence = Evidence(sheet.plan, observed, expected, rounded, sheet.free)
    outcome = Outcome(Run(observed, Ending.FINISHED), evidence, judge(sheet.items, evidence))
    return tell(Report(exercise.id, Status.REJECTED, 0.0, 0, "cpu", 0.0), outcome)


def test_a_check_that_breaks_on_one_submission_only_leaves_the_report_open(exercise: Exercise) -> None:
    """It gives no points, for somebody may have found out how to break it; what the others gave is shown."""
    report = report_on(exercise, Seen(Presence.TENSOR, None, (3, 5), "float64"))
    broken = [check for check in report.checks if check.status is Verdict.BROKEN]

    assert broken
    assert sum(check.earned for check in broken) == 0
    assert 0 < report.score < 100
    assert report.incident in report.reason
    assert report.incident
    assert not report.accepted


def test_nothing_is_skipped_because_of_a_check_that_broke(exercise: Exercise) -> None:
    """What builds on it is looked at all the same; nobody loses points to a fault of ours at second hand."""
    report = report_on(exercise, Seen(Presence.TENSOR, None, (3, 5), "float64"))

    assert {check.status for check in report.checks} == {Verdict.PASSED, Verdict.BROKEN}
