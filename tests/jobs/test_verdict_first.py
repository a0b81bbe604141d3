"""The verdict is stored and shown before its cause is known; the cause is added to the same grading."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import func, select

from grader.box.cancel import CancelToken
from grader.errors import GraderFault
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Claim, Tracker
from grader.jobs.worker import Worker
from grader.judge.report import Diagnosis, Report
from grader.store import standings, submissions
from grader.store.engine import Database
from grader.store.records import GradingId, State, Submission, SubmissionId
from grader.store.submissions import EXPLAIN_SECONDS
from grader.store.tables import GradingRow, JobRow, MistakeRow
from tests.jobs.classroom import full_marks, hand_in, open_database, states, until

Make = Callable[..., EmbeddedEngine]
CAUSE = Diagnosis("forgot_scaling", "The scores are not scaled", "Divide by the root of d.", True)


class Search:
    """Grades with 40 points at once, and finds the cause when it is let go on; `found` are those that it looked at."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.told = threading.Event()
        self.go = threading.Event()
        self.found: list[str] = []
        self._fault = fault

    def grade(self, submission: Submission, tracker: Tracker) -> Report:
        report = replace(full_marks(submission, tracker), score=40.0)
        tracker.complete = partial(self._complete, submission.id, report)
        return replace(report, complete=False)

    def _complete(self, id: SubmissionId, report: Report, cancel: CancelToken) -> Report:
        self.told.set()
        with cancel.on_cancel(self.go.set):
            assert self.go.wait(20)
        cancel.check()
        self.found.append(id)
        if self._fault is not None:
            raise self._fault
        return replace(report, diagnosis=(CAUSE,))


def stored_report(database: Database) -> Report:
    with database.read() as session:
        found = submissions.get(session, SubmissionId("s1"))
    assert found is not None
    assert found.report is not None
    return found.report


def count(database: Database, table: type[GradingRow | JobRow | MistakeRow]) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_the_verdict_counts_before_its_cause_is_found(database: Database, engine: Make) -> None:
    """Score, state and board are there, the job is gone; then the same grading names the mistake."""
    search = Search()
    one = engine(search.grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    assert search.told.wait(20)

    verdict = stored_report(database)
    with database.read() as session:
        best = standings.best(session, stored.user)
    before = states(database), verdict.score, verdict.complete, verdict.diagnosis, best, count(database, JobRow)
    assert before == ({"s1": State.DONE}, 40.0, False, (), {"softmax": 40.0}, 0)
    assert count(database, MistakeRow) == 0

    search.go.set()
    until(lambda: stored_report(database).complete, "the cause is stored")
    assert stored_report(database) == replace(verdict, complete=True, diagnosis=(CAUSE,))
    assert (count(database, GradingRow), count(database, MistakeRow)) == (1, 1)


def test_a_search_that_fails_leaves_the_verdict_as_it_is(database: Database, engine: Make) -> None:
    """Nothing is graded again; the report says that the search was interrupted."""
    search = Search(GraderFault("out of luck"))
    search.go.set()
    one = engine(search.grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1")
    until(lambda: states(database) == {"s1": State.DONE} and stored_report(database).complete, "at an end")

    report = stored_report(database)
    assert (report.score, report.diagnosis, count(database, GradingRow)) == (40.0, (), 1)
    assert any("interrupted the search" in line for line in report.advice)


def test_waiting_newcomers_do_not_cut_a_search_short(database: Database, engine: Make) -> None:
    """What has its verdict is not queued again, however long the search takes."""
    search = Search()
    one = engine(search.grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1")
    assert search.told.wait(20)
    (worker,) = one._running
    worker.clock = lambda: time.time() + 3600.0
    worker.yield_turn()
    search.go.set()
    until(lambda: stored_report(database).complete, "at an end")

    assert stored_report(database).diagnosis == (CAUSE,)


def test_nobody_goes_first_while_a_verdict_is_being_stored(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that ends in just that moment does not cost the cause, and begins nothing anew."""
    search = Search()
    search.go.set()
    store = Worker._store

    def store_late(worker: Worker, claim: Claim, report: Report) -> GradingId | None:
        worker.clock = lambda: time.time() + 3600.0
        worker.yield_turn()
        return store(worker, claim, report)

    monkeypatch.setattr(Worker, "_store", store_late)
    one = engine(search.grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1")
    until(lambda: states(database) == {"s1": State.DONE} and stored_report(database).complete, "at an end")

    assert (stored_report(database).diagnosis, count(database, GradingRow)) == ((CAUSE,), 1)


def _search_for_ever(folder: Path, told: Connection) -> None:
    def grade(submission: Submission, tracker: Tracker) -> Report:
        tracker.complete = search
        return replace(full_marks(submission, tracker), score=40.0, complete=False)

    def search(_cancel: CancelToken) -> Report:
        os.write(told.fileno(), b"!")
        threading.Event().wait()
        raise AssertionError

    database = open_database(folder)
    one = EmbeddedEngine(database, grade, workers=folder / "workers")
    hand_in(database, one, "s1")
    one.run({"cpu": 1})
    threading.Event().wait()


def test_a_verdict_outlives_the_process_that_searches_for_its_cause(tmp_path: Path) -> None:
    """Killed in the search, it is not graded again; after a while the report says what happened."""
    context = get_context("forkserver")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_search_for_ever, args=(tmp_path, writing))
    process.start()
    assert os.read(reading.fileno(), 1) == b"!"
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()

    with closing(open_database(tmp_path)) as database:
        next_start = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
        next_start.run({"cpu": 1})
        found = next_start.reconcile()
        next_start.drain(5.0)
        report = stored_report(database)
        with database.read() as session:
            outcome = submissions.outcome(session, SubmissionId("s1"))

    assert (found, report.score, report.complete) == (0, 40.0, False)
    assert outcome.finished is not None
    soon, late = (submissions.settled(report, outcome.finished, outcome.finished + s) for s in (1.0, EXPLAIN_SECONDS))
    assert soon == report
    assert late is not None
    assert late.complete
    assert any("interrupted the search" in line for line in late.advice)
