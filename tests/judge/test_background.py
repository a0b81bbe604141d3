"""A thread beside the judge; what becomes of one that dies before it begins is in `tests/faults`."""

from __future__ import annotations

import threading

import pytest

from grader.judge.background import Background


def test_it_runs_beside_whoever_started_it() -> None:
    """The result is there when it is asked for, from another thread than ours."""
    assert Background(threading.get_ident).result() != threading.get_ident()


def test_what_it_raises_is_raised_where_the_result_is_asked_for() -> None:
    """With its own type and text."""
    with pytest.raises(ZeroDivisionError):
        Background(lambda: 1 // 0).result()
