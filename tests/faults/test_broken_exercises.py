"""Exercises that are broken on the disk: what no point depends on is left out, what points depend on is our fault."""

from __future__ import annotations

import pytest

from grader.judge.report import Report, Verdict
from tests.faults.conftest import RIGHT, WRONG, Victim


@pytest.mark.parametrize("exercise", ["bad_reference", "bad_draws"])
def test_without_a_truth_a_submission_is_broken_by_us(victim: Victim, exercise: str) -> None:
    """Tried again, then given up with an incident: no points are taken, no attempt is used, the way is free."""
    victim.expect_apology(victim.submit(exercise=exercise), exercise)


@pytest.mark.parametrize("exercise", ["bad_mistakes", "bad_words"])
def test_a_verdict_stands_without_its_extras(victim: Victim, exercise: str) -> None:
    """A cause that cannot be looked for, or not be written down, costs the cause: the same points, and a note."""
    plain = graded(victim, WRONG, "softmax")
    found = graded(victim, WRONG, exercise)

    assert plain.diagnosis
    assert (found.score, found.diagnosis, found.incident) == (plain.score, (), "")
    assert [(c.name, c.status) for c in found.checks] == [(c.name, c.status) for c in plain.checks]
    (note,) = [line for line in found.advice if "error in the grader" in line]
    incident = note.partition("(")[2].partition(")")[0]
    assert f"incident {incident}" in victim.ask("logged")


def test_a_check_that_breaks_whatever_it_is_given_gives_its_points(victim: Victim) -> None:
    """It is shown as ours, with an incident that the log has; a right answer keeps its full marks."""
    found = graded(victim, RIGHT, "bad_check")
    wrong = graded(victim, WRONG, "bad_check")

    (broken,) = [check for check in found.checks if check.status is Verdict.BROKEN]
    assert (found.score, found.accepted, broken.earned) == (100.0, True, broken.possible)
    assert broken.message[-8:] in victim.ask("logged")
    assert not wrong.accepted


def graded(victim: Victim, source: str, exercise: str) -> Report:
    state, report = victim.end(victim.submit(source, exercise))
    assert state == "done", report
    return report
