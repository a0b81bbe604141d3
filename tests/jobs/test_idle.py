"""What is done in idle times: only then, and never to anybody's harm."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.jobs import idle
from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.idle import use_idle_time
from grader.jobs.queue import Tracker
from grader.judge.report import Report
from grader.store.engine import Database
from grader.store.records import State, Submission
from tests.jobs.classroom import full_marks, hand_in, states, until


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUIET_SECONDS", "DONE_SECONDS", "FAILED_SECONDS"):
        monkeypatch.setattr(idle, name, 0.01)


def test_it_works_piece_by_piece_until_nothing_is_left_and_looks_again() -> None:
    """A piece that was the last for now is not the last for ever."""
    left, done, stop = [3], [], threading.Event()

    def work(_: Callable[[], bool]) -> bool:
        if len(done) == 6:
            stop.set()
        left[0] -= 1
        done.append(left[0])
        if left[0] == 0:
            left[0] = 3
            return False
        return True

    use_idle_time(work, lambda: not stop.is_set(), stop)

    assert done == [2, 1, 0, 2, 1, 0, 2]


def test_it_waits_while_somebody_is_served() -> None:
    """No piece is begun, and the one under way is told to end."""
    busy, stop, told = threading.Event(), threading.Event(), []

    def work(go_on: Callable[[], bool]) -> bool:
        told.append(go_on())
        busy.set()
        told.append(go_on())
        return True

    thread = threading.Thread(target=use_idle_time, args=(work, lambda: not busy.is_set(), stop))
    thread.start()
    busy.wait(60)
    time.sleep(0.1)
    stop.set()
    thread.join()

    assert told == [True, False]


def test_work_that_fails_is_told_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """A full disk ends no thread."""
    stop, tries = threading.Event(), []

    def work(_: Callable[[], bool]) -> bool:
        tries.append(1)
        if len(tries) == 3:
            stop.set()
        raise OSError("No space left on device")

    with caplog.at_level(logging.ERROR):
        use_idle_time(work, lambda: not stop.is_set(), stop)

    assert len(tries) == 3
    assert caplog.text.count("the work of idle times failed") == 3


def test_an_engine_works_between_submissions_and_ends_with_its_drain(database: Database, tmp_path: Path) -> None:
    """While one is graded nothing else is begun in its process."""
    grading, pieces, beside = threading.Event(), [], []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        grading.set()
        time.sleep(0.2)
        grading.clear()
        return full_marks(submission, tracker)

    def work(_: Callable[[], bool]) -> bool:
        pieces.append(1)
        beside.append(grading.is_set())
        time.sleep(0.01)
        return True

    engine = EmbeddedEngine(database, grade, workers=tmp_path / "workers", background=work)
    engine.start({"cpu": 1})
    until(lambda: len(pieces) > 3, "work before the first submission")
    hand_in(database, engine, "one")
    until(lambda: states(database)["one"] is State.DONE, "graded")
    before = len(pieces)
    until(lambda: len(pieces) > before + 3, "work after it")
    engine.drain(5.0)
    known = len(pieces)
    time.sleep(0.1)

    assert len(pieces) == known
    assert sum(beside) <= 1, "a piece may begin as the submission is taken"


def test_a_drain_waits_for_the_piece_under_way(database: Database, tmp_path: Path) -> None:
    """Else the process would end while torch works in one of its threads, and the C++ library aborts it."""
    begun, ended = threading.Event(), threading.Event()

    def work(_: Callable[[], bool]) -> bool:
        begun.set()
        time.sleep(0.5)
        ended.set()
        return True

    engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers", background=work)
    engine.start({"cpu": 1})
    begun.wait(60)

    assert engine.drain(60.0)
    assert ended.is_set()
