"""On Postgres jobs are delivered by Procrastinate: none is lost or visibly graded twice, whoever disappears."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from grader.box.cancel import CancelToken
from grader.jobs import claims
from grader.jobs.cluster import engine as cluster_engine
from grader.jobs.cluster import library
from grader.jobs.cluster.notices import LONGEST, Notices
from grader.jobs.cluster.pages import ClusterSupervisor
from grader.jobs.engine import GradingEngine
from grader.jobs.locks import machine_in
from grader.jobs.messages import Advanced, Message, Moved
from grader.jobs.queue import Claim, GradingSteps, Tracker
from grader.jobs.table import TableJobs
from grader.jobs.worker import Search
from grader.judge.report import Report
from grader.store import submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import GradingId, Reason, State, Submission, SubmissionId
from grader.store.tables import GradingRow, JobRow
from tests.jobs.classroom import full_marks, gradings, hand_in, states, take, until
from tests.jobs.engines import Site

ENDED = "0123456789abcdef"  # the lock of no process
Find = Callable[[Report, CancelToken], Report]
PutOff = Callable[..., GradingEngine]


def all_done(database: Database, number: int = 1) -> Callable[[], bool]:
    return lambda: list(states(database).values()) == [State.DONE] * number


def test_several_machines_grade_everything_once(shared: Site) -> None:
    """Sixty submissions of ten people, some before the start; and no two of one person at a time."""
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

    engines = [shared.machine(grade) for _ in range(3)]
    for number in range(60):
        if number == 20:
            for engine in engines:
                engine.start({"cpu": 2})
        id, user = f"s{number:02}", f"p{number % 10}"
        hand_in(shared.database, engines[number % 3], id, user=user, exercise=f"e{number}")

    until(all_done(shared.database, 60), "all are graded")
    assert set(gradings(shared.database).values()) == {1}
    assert max(most) == 1


def test_a_transaction_that_fails_leaves_no_job(shared: Site) -> None:
    """Nothing is delivered of what was not stored."""

    def fail() -> None:
        with shared.database.write() as session:
            library.defer(session, "cpu")
            session.execute(text("INSERT INTO jobs DEFAULT VALUES"))

    with pytest.raises(IntegrityError):
        fail()
    hand_in(shared.database, shared.machine(), "s1")

    with shared.database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM procrastinate_jobs")) == 1


@pytest.mark.parametrize(("own_machine", "kills"), [(True, 1), (False, 0)], ids=["a killed process", "a lost machine"])
def test_what_somebody_held_who_is_gone_is_graded_elsewhere(shared: Site, own_machine: bool, kills: int) -> None:
    """That a process was killed is known on its machine only, and counted; its late result changes nothing."""
    seen: list[int] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        with shared.database.read() as session:
            seen.append(session.scalars(select(JobRow.kills)).one())
        return full_marks(submission, tracker)

    engine = shared.machine(grade, folder="here")
    machine = machine_in(shared.folder / "here" / "workers") if own_machine else "elsewher"
    hand_in(shared.database, engine, "s1")
    with shared.database.write() as session:
        late = take(session, SubmissionId("s1"), worker=f"{ENDED}/{machine}", token="old", now=1.0)
        session.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))
    engine.start({"cpu": 1})
    until(all_done(shared.database), "it is graded")

    assert seen == [kills]
    assert late is not None
    with shared.database.write() as session:
        assert not claims.put_back(session, late, ready=1.0)
    assert gradings(shared.database) == {"s1": 1}


@pytest.mark.parametrize("loss", ["DELETE FROM procrastinate_jobs", "COMMENT ON SCHEMA procrastinate IS '0.0.1'"])
def test_what_the_library_lost_is_delivered_again(shared: Site, loss: str) -> None:
    """Its rows may vanish, and its tables are made anew for another version; ours say what is open."""
    engine = shared.machine()
    hand_in(shared.database, engine, "s1")
    with shared.database.engine.begin() as connection:
        connection.exec_driver_sql(loss)
        library.install(connection)
    engine.start({"cpu": 1})

    until(all_done(shared.database), "it is graded")


@pytest.mark.parametrize("notices", [True, False], ids=["with notices", "without"])
def test_a_fault_of_ours_is_tried_again(shared: Site, monkeypatch: pytest.MonkeyPatch, notices: bool) -> None:
    """After a pause, which nobody announces; also where the library hears nothing and looks once an hour."""
    if not notices:
        monkeypatch.setattr(cluster_engine, "POLL_SECONDS", 3600.0)
        with shared.database.write() as session:
            session.execute(text("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER"))
    tries: list[str] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        tries.append(submission.id)
        if len(tries) == 1:
            raise RuntimeError("ours")
        return full_marks(submission, tracker)

    engine = shared.machine(grade, pause=0.2)
    engine.start({"cpu": 1})
    hand_in(shared.database, engine, "s1")

    until(all_done(shared.database), "the second try is stored")
    assert tries == ["s1", "s1"]


def test_a_cancel_reaches_another_machine(shared: Site) -> None:
    """Whoever cancels on one machine ends the try on another."""
    begun, ended = threading.Event(), threading.Event()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        begun.set()
        _await_cancel(tracker)
        ended.set()
        tracker.cancel.check()
        return full_marks(submission, tracker)

    def start(connection: object, place: int) -> None:
        raise AssertionError("no process is needed")

    shared.machine(grade).start({"cpu": 1})
    notices, workers = Notices(shared.database.engine.url), shared.folder / "pages"
    pages = ClusterSupervisor(shared.database, start, 0, notices=notices, workers=workers)  # type: ignore[arg-type]
    hand_in(shared.database, pages, "s1")
    assert begun.wait(60)

    assert pages.cancel(SubmissionId("s1"))
    assert ended.wait(60)
    assert states(shared.database) == {"s1": State.CANCELLED}
    notices.close()


def test_what_is_graded_at_a_stop_is_handed_back_and_not_counted(shared: Site) -> None:
    """Another machine takes it over at once."""
    begun = threading.Event()

    def hang(submission: Submission, tracker: Tracker) -> Report:
        begun.set()
        _await_cancel(tracker)
        tracker.cancel.check()
        return full_marks(submission, tracker)

    first, second = shared.machine(hang), shared.machine()
    first.start({"cpu": 1})
    hand_in(shared.database, first, "s1")
    assert begun.wait(60)
    second.start({"cpu": 1})

    assert not first.drain(0.0)
    until(all_done(shared.database), "the other one grades it")
    assert gradings(shared.database) == {"s1": 1}


def test_a_lost_connection_is_opened_again(shared: Site) -> None:
    """Postgres ends every connection; what is handed in afterwards is graded."""
    engine = shared.machine()
    engine.start({"cpu": 1})
    hand_in(shared.database, engine, "s1")
    until(all_done(shared.database), "the first one is graded")
    with shared.database.engine.connect() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        connection.exec_driver_sql(f"{others} AND pid <> pg_backend_pid()")
    hand_in(shared.database, engine, "s2")

    until(all_done(shared.database, 2), "the second one is graded")


def test_progress_is_heard_whatever_its_length(shared: Site) -> None:
    """A notice has less than 8 kB: of a long curve its end is told; a lost connection is opened again."""
    heard: list[Message] = []
    notices = Notices(shared.database.engine.url)
    notices.listen(heard.append)
    until(lambda: notices.publish(Moved(SubmissionId("begin"))) and bool(heard), "somebody listens")
    curve = tuple(number / 7 for number in range(1000))
    with shared.database.engine.connect() as connection:
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_notify%%'"
        connection.exec_driver_sql(ours)

    assert notices.publish(Advanced(SubmissionId("s1"), GradingSteps("a step", 1, 2, curve)))
    until(lambda: any(isinstance(message, Advanced) for message in heard), "the step is heard")
    (told,) = (message for message in heard if isinstance(message, Advanced))
    assert told.steps.curve == curve[-len(told.steps.curve) :]
    assert len(told.steps.curve) > LONGEST // 100
    notices.close()


def test_who_has_closed_sends_nothing_more(shared: Site) -> None:
    """A thread that still wants to tell something opens no connection again, which nobody would close."""
    notices = Notices(shared.database.engine.url)
    assert notices.publish(Moved(SubmissionId("s1")))
    notices.close()

    assert not notices.publish(Moved(SubmissionId("s1")))
    assert notices._out is None


def _await_cancel(tracker: Tracker) -> None:
    end = time.monotonic() + 60
    while not tracker.cancel.cancelled and time.monotonic() < end:
        time.sleep(0.005)


@pytest.fixture
def put_off(shared: Site) -> PutOff:
    """Give a function that has a submission graded and its cause put off, and returns the engine."""

    def put(find: Find, before: Callable[[], None] = lambda: None) -> GradingEngine:
        engine, database = shared.machine(), shared.database
        engine.start({"cpu": 1})
        hand_in(database, engine, "s1")
        until(all_done(database), "it is graded")
        until(lambda: not engine._free["cpu"].empty(), "its slot is free")
        with database.read() as session:
            stored = submissions.get(session, SubmissionId("s1"))
            grading = session.scalar(select(GradingRow.id))
        assert stored is not None
        assert stored.report is not None
        assert grading is not None
        claim = Claim(stored.id, Reason.HAND_IN, "softmax", 1, "cpu", "t", tries=1, faults=0, kills=0, started=0.0)
        search = partial(find, stored.report)
        before()
        engine._searches["cpu"].put(
            Search(claim=claim, stored=GradingId(grading), verdict=stored.report, complete=search)
        )
        return engine

    return put


def find_at_once(report: Report, _cancel: CancelToken) -> Report:
    return replace(report, advice=("found",))


def is_found(database: Database) -> Callable[[], bool]:
    def look() -> bool:
        with database.read() as session:
            found = submissions.get(session, SubmissionId("s1"))
        return found is not None and found.report is not None and found.report.advice == ("found",)

    return look


def test_causes_are_found_though_others_took_the_jobs_that_they_waited_for(shared: Site, put_off: PutOff) -> None:
    """Nothing is delivered any more that would wake a worker, and the search is made all the same."""
    put_off(find_at_once)

    until(is_found(shared.database), "the cause is found")


def test_a_stop_waits_for_a_search_in_a_free_slot(shared: Site, put_off: PutOff) -> None:
    """None of the threads that deliver jobs is left by then."""
    began = threading.Event()

    def find(report: Report, cancel: CancelToken) -> Report:
        began.set()
        time.sleep(1.0)
        cancel.check()
        return replace(report, advice=("found",))

    engine = put_off(find)
    assert began.wait(20)
    engine.drain(20.0)

    assert is_found(shared.database)()


def test_a_stop_loses_no_cause_that_is_just_put_off(
    shared: Site, put_off: PutOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker asks whether others wait while the stop begins, and hears that somebody does."""
    asked = threading.Event()

    def slowly(_jobs: TableJobs, _queue: str, **_named: bool) -> bool:
        asked.set()
        time.sleep(0.5)
        return True

    monkeypatch.setattr(TableJobs, "newcomers", slowly)
    engine = put_off(find_at_once)
    assert asked.wait(20)
    engine.drain(20.0)

    assert is_found(shared.database)()


def test_searches_wait_quietly_while_the_database_is_away(
    shared: Site, put_off: PutOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread dies of it, again and again."""
    died: list[object] = []
    asked = threading.Event()

    def gone(_jobs: TableJobs, _queue: str, **_named: bool) -> bool:
        asked.set()
        raise StoreUnavailable("gone")

    def go(patched: pytest.MonkeyPatch) -> None:
        for name in ("newcomers", "next_was_killed"):
            patched.setattr(TableJobs, name, gone)

    monkeypatch.setattr(threading, "excepthook", died.append)
    with monkeypatch.context() as patched:
        put_off(find_at_once, partial(go, patched))
        assert asked.wait(20)
        time.sleep(0.5)
    until(is_found(shared.database), "the cause is found")

    assert died == []
