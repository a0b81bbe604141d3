"""The embedded engine in one process: order, faults, cancelling, stopping."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from grader.errors import GraderFault
from grader.jobs import claims
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.jobs.table import TableJobs
from grader.jobs.worker import KILLED
from grader.judge.report import CheckResult, Dimension, Report, Status, Verdict
from grader.store import standings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import State, Submission, SubmissionId
from tests.jobs.classroom import full_marks, hand_in, open_database, states, until

Make = Callable[..., EmbeddedEngine]


class Gate:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.entered = threading.Semaphore(0)
        self.open = threading.Event()

    def grade(self, submission: Submission, tracker: Tracker) -> Report:
        self.asked.append(submission.id)
        self.entered.release()
        assert self.open.wait(20)
        return full_marks(submission, tracker)


@pytest.fixture
def gate() -> Gate:
    return Gate()


def finished(database: Database) -> Callable[[], bool]:
    return lambda: not {State.QUEUED, State.RUNNING} & set(states(database).values())


def test_a_submission_is_graded_and_counts(database: Database, engine: Make) -> None:
    """From the commit to the report and the board, without any further call."""
    one = engine()
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    until(finished(database), "graded")

    with database.read() as session:
        found = submissions.get(session, stored.id)
        assert found is not None
        assert found.report is not None
        assert (found.state, found.report.score) == (State.DONE, 100.0)
        assert standings.best(session, stored.user) == {"softmax": 100.0}


def test_a_call_before_falling_asleep_is_heard(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is handed in just after a worker has looked is graded, though nobody looks again for an hour."""
    monkeypatch.setattr("grader.jobs.engine.LOOK_SECONDS", 3600.0)
    one, take = engine(), TableJobs.take

    def late(jobs: TableJobs, queue: str, token: str, *, alone: bool) -> claims.Claim | None:
        claim = take(jobs, queue, token, alone=alone)
        if not states(database):
            hand_in(database, one, "s1")
        return claim

    monkeypatch.setattr(TableJobs, "take", late)
    one.run({"cpu": 1})

    until(lambda: states(database) == {"s1": State.DONE}, "it is graded")


def test_a_rolled_back_transaction_leaves_no_job(database: Database, engine: Make) -> None:
    """Storing and queueing are one transaction: neither happens without the other."""
    one = engine()
    stored = hand_in(database, one, "s1")
    one.cancel(stored.id)
    with suppress(RuntimeError), database.write() as session:
        submissions.add(session, _again(stored, "s2"))
        one.submit(session, SubmissionId("s2"), queue="cpu", priority=0)
        raise RuntimeError("halfway")

    assert states(database) == {"s1": State.CANCELLED}
    assert one.depth() == {}


def test_a_fault_of_ours_is_tried_again(database: Database, engine: Make) -> None:
    """Two faults and a success give an ordinary result."""
    faults = iter([GraderFault("the zygote is gone"), GraderFault("again")])

    def grade(submission: Submission, tracker: Tracker) -> Report:
        for fault in faults:
            raise fault
        return full_marks(submission, tracker)

    one = engine(grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1")
    until(finished(database), "graded")

    assert states(database) == {"s1": State.DONE}


def test_the_last_fault_breaks_it_with_an_incident(
    database: Database, engine: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """After all tries the student gets an apology with the id under which the log has the cause; it costs nothing."""

    def grade(_submission: Submission, _tracker: Tracker) -> Report:
        raise ZeroDivisionError("a bug of ours")

    one = engine(grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    until(finished(database), "given up")
    with database.read() as session:
        found = submissions.get(session, stored.id)
        best = standings.best(session, stored.user)

    assert found is not None
    assert found.report is not None
    assert (found.state, found.report.score, best) == (State.BROKEN, 0.0, {})
    assert found.report.incident in found.report.reason
    told = [record for record in caplog.records if found.report.incident in record.getMessage()]
    assert ["a bug of ours" in record.getMessage() for record in told] == [True]


@pytest.mark.parametrize("bad_tries", [1, 9])
def test_a_report_that_was_left_open_is_tried_again(database: Database, engine: Make, bad_tries: int) -> None:
    """A try that does better replaces it; where none does, its points count and no attempt is used."""
    tries = iter(range(9))

    def grade(submission: Submission, tracker: Tracker) -> Report:
        whole, check = full_marks(submission, tracker), CheckResult("c", Dimension.SHAPES, Verdict.PASSED, 40.0, 40.0)
        if next(tries) >= bad_tries:
            return whole
        broken = CheckResult("d", Dimension.SHAPES, Verdict.BROKEN, 0.0, 60.0)
        return replace(whole, score=40.0, checks=(check, broken), incident="0a1b2c3d", reason="ours")

    one = engine(grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    until(finished(database), "at an end")
    with database.read() as session:
        best = standings.best(session, stored.user)
        used = session.execute(text("SELECT used FROM bests")).scalars().all()

    open_ended = bad_tries == 9
    assert states(database) == {"s1": State.BROKEN if open_ended else State.DONE}
    assert (best, used) == ({"softmax": 40.0 if open_ended else 100.0}, [0 if open_ended else 1])


def test_what_kills_every_worker_is_told_as_memory(database: Database, engine: Make) -> None:
    """A job that was under way at two kills is not begun again: it gets a verdict, which says why."""
    asked: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        asked.append(submission.id)
        return full_marks(submission, tracker)

    one = engine(grade)
    hand_in(database, one, "s1")
    for n in range(2):
        with database.write() as session:
            assert claims.take(session, "cpu", worker="dead", token=f"t{n}", now=2e9) is not None
            claims.release(session, "dead", [f"t{n}"], claims.LostTry.KILLED)
    one.run({"cpu": 1})
    until(finished(database), "told")

    with database.read() as session:
        stored = submissions.get(session, SubmissionId("s1"))
    assert stored is not None
    assert stored.report is not None
    assert (asked, stored.state, stored.report.status) == ([], State.DONE, Status.MEMORY)
    assert stored.report.reason == KILLED


def test_what_never_comes_to_an_end_is_given_up(database: Database, engine: Make) -> None:
    """A job that was taken too often, by whatever reason, is not taken for ever."""
    one = engine(tries=2)
    hand_in(database, one, "s1")
    for n in range(2):
        with database.write() as session:
            claim = claims.take(session, "cpu", worker="slow", token=f"t{n}", now=2e9)
            assert claim is not None
            claims.put_back(session, claim, priority=0)
    one.run({"cpu": 1})
    until(finished(database), "given up")

    assert states(database) == {"s1": State.BROKEN}


def test_a_cancelled_one_is_not_graded(database: Database, engine: Make, gate: Gate) -> None:
    """Cancelling one that waits takes it out of the queue."""
    one = engine(gate.grade)
    stored = hand_in(database, one, "s1")

    assert one.cancel(stored.id)
    one.run({"cpu": 1})
    gate.open.set()
    hand_in(database, one, "s2")
    until(finished(database), "graded")
    assert gate.asked == ["s2"]
    assert not one.cancel(stored.id)


def test_cancelling_one_that_runs_drops_its_result(database: Database, engine: Make, gate: Gate) -> None:
    """Its next step ends the run, no report is stored and no attempt is used."""
    one = engine(gate.grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    assert gate.entered.acquire(timeout=20)

    assert one.cancel(stored.id)
    gate.open.set()
    hand_in(database, one, "s2")
    until(finished(database), "the next one graded by the same slot")
    with database.read() as session:
        found = submissions.get(session, stored.id)
        assert found is not None
        assert (found.state, found.report) == (State.CANCELLED, None)
        assert standings.best(session, stored.user) == {}


def test_draining_finishes_what_runs_and_leaves_what_waits(database: Database, engine: Make, gate: Gate) -> None:
    """A stop repeats and loses nothing: the running one is finished, the waiting one waits for the next start."""
    one = engine(gate.grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1", priority=1)
    assert gate.entered.acquire(timeout=20)
    hand_in(database, one, "s2", priority=2)
    threading.Timer(0.05, gate.open.set).start()

    assert one.drain(20.0)
    assert states(database) == {"s1": State.DONE, "s2": State.QUEUED}
    one.run({"cpu": 1})
    until(finished(database), "the rest graded")
    assert gate.asked == ["s1", "s2"]


def test_a_stop_does_not_wait_for_what_was_cancelled(database: Database, engine: Make, gate: Gate) -> None:
    """A cancelled endless loop holds up nobody."""
    one = engine(gate.grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    assert gate.entered.acquire(timeout=20)
    one.cancel(stored.id)
    start = time.monotonic()

    assert one.drain(20.0)
    assert time.monotonic() - start < 5.0
    gate.open.set()


def test_what_does_not_end_in_time_is_handed_back(database: Database, engine: Make, gate: Gate) -> None:
    """The next start grades it again, and the late result of the first try is dropped."""
    one = engine(gate.grade)
    one.run({"cpu": 1})
    stored = hand_in(database, one, "s1")
    assert gate.entered.acquire(timeout=20)

    assert not one.drain(0.01)
    assert states(database) == {"s1": State.QUEUED}
    one.run({"cpu": 1})
    assert gate.entered.acquire(timeout=20)
    gate.open.set()
    until(finished(database), "graded")
    with database.read() as session:
        assert standings.best(session, stored.user) == {"softmax": 100.0}
        assert session.execute(text("SELECT used FROM bests")).scalars().all() == [1]


def test_what_a_stop_breaks_off_is_no_fault(database: Database, engine: Make, caplog: pytest.LogCaptureFixture) -> None:
    """A box that is closed in the middle of a try was told to; the job is handed back, and nobody hears of a fault."""
    entered, closed = threading.Event(), threading.Event()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        entered.set()
        closed.wait(20)
        raise GraderFault("the box was closed")

    one = engine(grade)
    one.run({"cpu": 1})
    hand_in(database, one, "s1")
    assert entered.wait(20)

    assert not one.drain(0.01)
    closed.set()
    for one in [thread for thread in threading.enumerate() if thread.name == "grading worker"]:
        one.join(20)
    assert states(database) == {"s1": State.QUEUED}
    assert [entry.getMessage() for entry in caplog.records if "the box was closed" in entry.getMessage()] == []


def test_a_late_result_changes_nothing(database: Database, engine: Make) -> None:
    """Only the claim that the table names may store a report."""
    one = engine()
    stored = hand_in(database, one, "s1")
    with database.write() as session:
        old = claims.take(session, "cpu", worker="a", token="old", now=2e9)
        claims.release(session, "a", ["old"], claims.LostTry.KILLED)
        new = claims.take(session, "cpu", worker="b", token="new", now=2e9)
    assert old is not None
    assert new is not None
    report = full_marks(stored, lambda _step: None)  # type: ignore[arg-type]  # it calls and never expects
    grading = Grading.of(report, Versions(exercise="v1", grader="g1", torch="2"), created=2.0)
    kept = []
    for claim in (old, new, new):
        with database.write() as session:
            kept.append(claims.finish(session, claim, grading))

    assert [id is not None for id in kept] == [False, True, False]


def test_another_process_hands_in_and_we_grade(database: Database, engine: Make, tmp_path: Path) -> None:
    """A job that no bell of ours announces is found all the same."""
    one = engine()
    one.run({"cpu": 1})
    foreign = open_database(tmp_path)
    hand_in(foreign, EmbeddedEngine(foreign, full_marks, workers=tmp_path / "workers"), "s1")
    foreign.close()

    until(finished(database), "graded")


def test_what_never_reached_a_queue_is_adopted(database: Database, engine: Make) -> None:
    """A stored submission that no engine knows is graded at the next start."""
    one = engine()
    stored = hand_in(database, one, "s1")
    one.cancel(stored.id)
    with database.write() as session:
        submissions.add(session, _again(stored, "s2"))

    assert one.reconcile() == 1
    assert one.depth() == {"cpu": 1}


def _again(submission: Submission, id: str) -> Submission:
    return replace(submission, id=SubmissionId(id))
