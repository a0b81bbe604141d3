"""A thread beside the judge; what becomes of one that dies before it begins is in `tests/faults`."""

from __future__ import annotations

import threading

import pytest

from grader.errors import SUBMISSION, logged_for
from grader.judge.attempt import Background


def test_it_runs_beside_whoever_started_it() -> None:
    """The result is there when it is asked for, from another thread than ours."""
    assert Background(threading.get_ident).result() != threading.get_ident()


def test_its_log_entries_are_about_the_same_submission() -> None:
    """Whoever runs a submission beside its judge says which one it is."""
    with logged_for("0a1b"):
        running = Background(SUBMISSION.get)

    assert running.result() == "0a1b"


def test_what_it_raises_is_raised_where_the_result_is_asked_for() -> None:
    """With its own type and text."""
    with pytest.raises(ZeroDivisionError):
        Background(lambda: 1 // 0).result()
