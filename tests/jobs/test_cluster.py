"""On Postgres jobs are delivered by Procrastinate: none is lost or visibly graded twice, whoever disappears."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from grader.box.cancel import CancelToken
from grader.jobs import claims
from grader.jobs.cluster import engine as cluster_engine
from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.cluster.notices import LONGEST, Notices
from grader.jobs.cluster.recovery import Holder, machine_in
from grader.jobs.cluster.supervisor import ClusterSupervisor
from grader.jobs.live import GradingSteps
from grader.jobs.messages import Advanced, Message, Moved
from grader.jobs.queue import Claim, Grade, Tracker
from grader.jobs.retries import Retries
from grader.jobs.searches import Search
from grader.jobs.table import TableJobs
from grader.judge.report import Report
from grader.store import migrate, submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import GradingId, Reason, State, Submission, SubmissionId
from grader.store.tables import GradingRow, JobRow
from tests.jobs import postgres
from tests.jobs.classroom import full_marks, hand_in, states, until

NUMBERS = itertools.count()
ENDED = "0123456789abcdef"  # the lock of no process


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of a Postgres."""
    with postgres.served() as url:
        yield url


@pytest.fixture
def database(server: str) -> Iterator[Database]:
    """Give an up-to-date database on it, with the library's tables."""
    database = Database(postgres.make_database(server, f"class{next(NUMBERS)}"))
    migrate.upgrade(database)
    with database.engine.begin() as connection:
        library.install(connection)
    yield database
    database.close()


@pytest.fixture
def machine(database: Database, tmp_path: Path) -> Iterator[Callable[..., ClusterEngine]]:
    """Give a function that makes the engine of one more machine; each has a directory of its own."""
    made: list[ClusterEngine] = []

    def make(grade: Grade = full_marks, folder: str = "", pause: float = 0.0) -> ClusterEngine:
        workers = tmp_path / (folder or f"machine {len(made)}") / "workers"
        retries = Retries((pause, pause), quick_seconds=60.0)
        made.append(ClusterEngine(database, grade, workers=workers, retries=retries))
        return made[-1]

    yield make
    for one in made:
        one.drain(5.0)


def all_done(database: Database, number: int) -> Callable[[], bool]:
    """Return whether so many submissions are graded, as a condition."""
    return lambda: list(states(database).values()) == [State.DONE] * number


def gradings(database: Database) -> dict[str, int]:
    """Return how often each submission was graded."""
    query = select(GradingRow.submission_id, func.count()).group_by(GradingRow.submission_id)
    with database.read() as session:
        return {id: number for id, number in session.execute(query)}  # noqa: C416 - a row is no pair to mypy


def leave_behind(database: Database, engine: ClusterEngine, holder: Holder) -> None:
    """Have `s1` in the hands of somebody who is not there."""
    hand_in(database, engine, "s1")
    with database.write() as session:
        assert claims.take_one(session, SubmissionId("s1"), worker=str(holder), token="old", now=1.0)
        session.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))


def test_what_is_handed_in_is_graded(database, machine):
    """Before the engine starts and after it."""
    engine = machine()
    hand_in(database, engine, "s1")
    engine.start({"cpu": 1})
    hand_in(database, engine, "s2")

    until(all_done(database, 2), "both are graded")


def test_several_machines_grade_everything_once(database, machine):
    """Sixty submissions of ten people, and no two of one person at a time."""
    running: dict[int, int] = {}
    most: list[int] = []
    turn = threading.Lock()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        with turn:
            running[submission.user] = running.get(submission.user, 0) + 1
            most.append(running[submission.user])
        time.sleep(0.005)  # so that others have the time to overlap
        with turn:
            running[submission.user] -= 1
        return full_marks(submission, tracker)

    engines = [machine(grade), machine(grade), machine(grade)]
    for engine in engines:
        engine.start({"cpu": 2})
    for number in range(60):
        hand_in(database, engines[number % 3], f"s{number:02}", user=f"p{number % 10}", exercise=f"e{number}")

    until(all_done(database, 60), "all are graded")
    assert set(gradings(database).values()) == {1}
    assert max(most) == 1


def test_a_transaction_that_fails_leaves_no_job(database, machine):
    """Nothing is delivered of what was not stored."""
    engine = machine()
    hand_in(database, engine, "s1")

    def fail() -> None:
        with database.write() as session:
            session.execute(text("DELETE FROM procrastinate_jobs"))
            library.Deferred().put(session, [SubmissionId("s1")])
            session.execute(text("INSERT INTO jobs DEFAULT VALUES"))

    with pytest.raises(IntegrityError):
        fail()

    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM procrastinate_jobs")) == 1


@pytest.mark.parametrize(("own_machine", "kills"), [(True, 1), (False, 0)], ids=["a killed process", "a lost machine"])
def test_what_somebody_held_who_is_gone_is_graded_elsewhere(database, machine, tmp_path, own_machine, kills):
    """That a process was killed is known on its machine only, and counted; a machine is missed by its heartbeat."""
    seen: list[int] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        with database.read() as session:
            seen.append(session.scalars(select(JobRow.kills)).one())
        return full_marks(submission, tracker)

    engine = machine(grade, "here")
    workers = tmp_path / "here" / "workers"
    workers.mkdir(parents=True)
    leave_behind(database, engine, Holder(ENDED, machine_in(workers) if own_machine else "elsewhere"[:8], 10**6))
    engine.start({"cpu": 1})

    until(all_done(database, 1), "it is graded")
    assert seen == [kills]


def test_a_late_result_of_somebody_thought_gone_changes_nothing(database, machine):
    """A machine that comes back finds its claim gone."""
    engine = machine()
    leave_behind(database, engine, Holder(ENDED, "elsewher", 10**6))
    late = claims.Claim(SubmissionId("s1"), claims.Reason.HAND_IN, "softmax", 1, "cpu", "old", 1, 0, 0, 1.0)
    engine.start({"cpu": 1})
    until(all_done(database, 1), "it is graded here")

    with database.write() as session:
        assert not claims.put_back(session, late, ready=1.0)
    assert gradings(database) == {"s1": 1}


@pytest.mark.parametrize("loss", ["DELETE FROM procrastinate_jobs", "COMMENT ON SCHEMA procrastinate IS '0.0.1'"])
def test_what_the_library_lost_is_delivered_again(database, machine, loss):
    """Its rows may vanish, and its tables are made anew for another version; ours say what is open."""
    engine = machine()
    hand_in(database, engine, "s1")
    with database.engine.begin() as connection:
        connection.exec_driver_sql(loss)
        library.install(connection)
    engine.start({"cpu": 1})

    until(all_done(database, 1), "it is graded")


def test_a_fault_of_ours_is_tried_again(database, machine):
    """The first try breaks, the second one counts."""
    tries: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        tries.append(submission.id)
        if len(tries) == 1:
            raise RuntimeError("ours")
        return full_marks(submission, tracker)

    engine = machine(grade)
    engine.start({"cpu": 1})
    hand_in(database, engine, "s1")

    until(all_done(database, 1), "the second try is stored")
    assert tries == ["s1", "s1"]


def test_what_no_notice_tells_is_taken_all_the_same(database, machine, monkeypatch):
    """The library looks for jobs once an hour here, its notices are lost, and a try comes after a pause."""
    monkeypatch.setattr(cluster_engine, "POLL_SECONDS", 3600.0)
    with database.write() as session:
        session.execute(text("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER"))
    tries: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        tries.append(submission.id)
        if len(tries) == 1:
            raise RuntimeError("ours")
        return full_marks(submission, tracker)

    engine = machine(grade, pause=0.2)
    engine.start({"cpu": 1})
    hand_in(database, engine, "s1")

    until(all_done(database, 1), "the second try is stored")
    assert tries == ["s1", "s1"]


def test_a_cancel_reaches_another_machine(database, machine, tmp_path):
    """Whoever cancels on one machine ends the try on another."""
    begun, ended = threading.Event(), threading.Event()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.set()
        _until_cancelled(tracker)
        ended.set()
        tracker.cancel.check()
        return full_marks(submission, tracker)

    engine = machine(grade)
    engine.start({"cpu": 1})
    notices = Notices(database.engine.url)
    pages = _pages(database, tmp_path, notices)
    hand_in(database, pages, "s1")
    assert begun.wait(60)

    assert pages.cancel(SubmissionId("s1"))
    assert ended.wait(60)
    assert states(database) == {"s1": State.CANCELLED}
    notices.close()


def test_what_is_graded_at_a_stop_is_handed_back_and_not_counted(database, machine):
    """Another machine takes it over at once."""
    begun = threading.Event()

    def hang(submission: Submission, tracker: Tracker) -> Report:
        begun.set()
        _until_cancelled(tracker)
        tracker.cancel.check()
        return full_marks(submission, tracker)

    first, second = machine(hang), machine()
    first.start({"cpu": 1})
    hand_in(database, first, "s1")
    assert begun.wait(60)
    second.start({"cpu": 1})

    assert not first.drain(0.0)
    until(all_done(database, 1), "the other one grades it")
    assert gradings(database) == {"s1": 1}


def test_a_lost_connection_is_opened_again(database, machine):
    """Postgres ends every connection; what is handed in afterwards is graded."""
    engine = machine()
    engine.start({"cpu": 1})
    hand_in(database, engine, "s1")
    until(all_done(database, 1), "the first one is graded")
    with database.engine.connect() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        connection.exec_driver_sql(f"{others} AND pid <> pg_backend_pid()")
    hand_in(database, engine, "s2")

    until(all_done(database, 2), "the second one is graded")


def test_progress_is_heard_whatever_its_length(database):
    """A notice has less than 8 kB: of a long curve its end is told; a lost connection is opened again."""
    heard: list[Message] = []
    notices = Notices(database.engine.url)
    notices.listen(heard.append)
    until(lambda: notices.publish(Moved(SubmissionId("begin"))) and bool(heard), "somebody listens")
    curve = tuple(number / 7 for number in range(1000))
    with database.engine.connect() as connection:
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_notify%%'"
        connection.exec_driver_sql(ours)

    assert notices.publish(Advanced(SubmissionId("s1"), GradingSteps("a step", 1, 2, curve)))
    until(lambda: any(isinstance(message, Advanced) for message in heard), "the step is heard")
    (told,) = (message for message in heard if isinstance(message, Advanced))
    assert told.steps.curve == curve[-len(told.steps.curve) :]
    assert len(told.steps.curve) > LONGEST // 100
    notices.close()


def _until_cancelled(tracker: Tracker) -> None:
    end = time.monotonic() + 60
    while not tracker.cancel.cancelled and time.monotonic() < end:
        time.sleep(0.005)


def _pages(database: Database, folder: Path, notices: Notices) -> ClusterSupervisor:
    def start(connection, place):
        raise AssertionError("no process is needed")

    return ClusterSupervisor(database, start, 0, notices=notices, workers=folder / "pages")


def put_off(database: Database, engine: ClusterEngine, find: Callable[[Report, CancelToken], Report]) -> None:
    """Have a submission graded, and its cause put off."""
    hand_in(database, engine, "s1")
    until(all_done(database, 1), "it is graded")
    until(lambda: not engine._free["cpu"].empty(), "its slot is free")
    with database.read() as session:
        stored = submissions.get(session, SubmissionId("s1"))
        grading = session.scalar(select(GradingRow.id))
    assert stored is not None
    assert stored.report is not None
    assert grading is not None
    claim = Claim(stored.id, Reason.HAND_IN, "softmax", 1, "cpu", "t", tries=1, faults=0, kills=0, started=0.0)
    search = Search(
        claim=claim, stored=GradingId(grading), verdict=stored.report, complete=partial(find, stored.report)
    )
    engine._searches["cpu"].put(search)


def advice(database: Database) -> tuple[str, ...]:
    """Return what the report on it advises."""
    with database.read() as session:
        found = submissions.get(session, SubmissionId("s1"))
    assert found is not None
    assert found.report is not None
    return found.report.advice


def test_causes_are_found_though_others_took_the_jobs_that_they_waited_for(database, machine):
    """Nothing is delivered any more that would wake a worker, and the search is made all the same."""
    engine = machine()
    engine.start({"cpu": 1})
    put_off(database, engine, lambda report, _: replace(report, advice=("found",)))
    until(lambda: advice(database) == ("found",), "the cause is found")


def test_a_stop_waits_for_a_search_in_a_free_slot(database, machine):
    """None of the threads that deliver jobs is left by then."""
    engine = machine()
    engine.start({"cpu": 1})
    began = threading.Event()

    def find(report: Report, cancel: CancelToken) -> Report:
        began.set()
        time.sleep(1.0)
        cancel.check()
        return replace(report, advice=("found",))

    put_off(database, engine, find)
    assert began.wait(20)
    engine.drain(20.0)

    assert advice(database) == ("found",)


def test_a_stop_loses_no_cause_that_is_just_put_off(database, machine, monkeypatch):
    """The worker asks whether others wait while the stop begins, and hears that somebody does."""
    asked = threading.Event()

    def slowly(_jobs: TableJobs, _queue: str, **_named: bool) -> bool:
        asked.set()
        time.sleep(0.5)
        return True

    monkeypatch.setattr(TableJobs, "newcomers", slowly)
    engine = machine()
    engine.start({"cpu": 1})
    put_off(database, engine, lambda report, _: replace(report, advice=("found",)))
    assert asked.wait(20)
    engine.drain(20.0)

    assert advice(database) == ("found",)


def test_searches_wait_quietly_while_the_database_is_away(database, machine, monkeypatch):
    """No thread dies of it, again and again."""
    died = []
    asked = threading.Event()

    def gone(_jobs: TableJobs, _queue: str, **_named: bool) -> bool:
        asked.set()
        raise StoreUnavailable("gone")

    monkeypatch.setattr(threading, "excepthook", died.append)
    engine = machine()
    engine.start({"cpu": 1})
    with monkeypatch.context() as patched:
        patched.setattr(TableJobs, "newcomers", gone)
        put_off(database, engine, lambda report, _: replace(report, advice=("found",)))
        assert asked.wait(20)
        time.sleep(0.5)
    until(lambda: advice(database) == ("found",), "the cause is found")

    assert died == []
