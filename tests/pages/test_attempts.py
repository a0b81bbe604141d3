"""The lists of attempts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.exercise.catalog import Catalog
from grader.judge.report import Status
from grader.pages.lists import attempts_view, work_line
from grader.store.records import Attempt, State, SubmissionId

ATTEMPT = Attempt(SubmissionId("s1"), "softmax", 3, 1.0, State.DONE, Status.GRADED, 40.0)
LATE, SCALE = "Your mask starts one position too late", "`d_k` is not under a root"


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (replace(ATTEMPT, mistakes=(LATE,), begins="Your results become wrong at line 3"), LATE),
        (replace(ATTEMPT, mistakes=(LATE, SCALE)), f"two mistakes: {LATE}; {SCALE}"),
        (replace(ATTEMPT, begins="Your results become wrong at line 3"), "Your results become wrong at line 3"),
        (ATTEMPT, "not accepted yet"),
        (replace(ATTEMPT, score=100.0), "full marks"),
        (replace(ATTEMPT, status=Status.TIMEOUT, score=0.0, begins="Line 3 never ends"), "ran out of time"),
        (replace(ATTEMPT, state=State.RUNNING, status=None, score=None), "being checked"),
    ],
)
def test_an_attempt_is_labelled_with_its_mistake(catalog: Catalog, attempt: Attempt, text: str):
    """By the headline of its report, or where it begins, or what became of it; in both lists."""
    (row,) = attempts_view([attempt])["rows"]

    assert row["text"] == text
    assert work_line(attempt, catalog)["text"] == f"attempt 3 · {text}"


def test_a_label_is_cleaned():
    """What a report says may quote a name out of the code."""
    (row,) = attempts_view([replace(ATTEMPT, begins="wrong at `\u202eabc`")])["rows"]

    assert row["text"] == "wrong at `\ufffdabc`"
