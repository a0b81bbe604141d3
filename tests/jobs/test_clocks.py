"""A clock is set back by an hour: what waits does not wait for an hour, and who is gone is missed all the same."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import text, update

from grader.jobs.queue import Tracker
from grader.judge.report import Report
from grader.store import processes
from grader.store.processes import KnownProcess
from grader.store.records import State, Submission, SubmissionId
from grader.store.tables import JobRow, ProcessRow
from tests.jobs.classroom import full_marks, hand_in, states, take, until
from tests.jobs.engines import Site, on_sqlite

HOUR = 3600.0


def test_a_clock_that_is_set_back_delays_nothing_on_sqlite(tmp_path: Path) -> None:
    """It is set back once something was handed in and is tried again, and is ahead no more from then on."""
    ahead, tries = [HOUR], []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        tries.append(submission.id)
        if len(tries) == 1:
            raise RuntimeError("ours")
        return full_marks(submission, tracker)

    with on_sqlite(tmp_path) as site:
        engine = site.machine(grade, clock=lambda: time.time() + ahead[0])
        hand_in(site.database, engine, "s1")
        engine.start({"cpu": 1})
        until(lambda: len(tries) > 0, "it was tried")
        ahead[0] = 0.0
        hand_in(site.database, engine, "s2")

        until(lambda: set(states(site.database).values()) == {State.DONE}, "both are graded")


def test_what_was_handed_in_before_a_clock_was_set_back_is_graded(tmp_path: Path) -> None:
    """Nothing of it has run when the service starts again with the right time."""
    with on_sqlite(tmp_path) as site:
        hand_in(site.database, site.machine(full_marks, clock=lambda: time.time() + HOUR), "s1")
        site.machine(full_marks).start({"cpu": 1})

        until(lambda: states(site.database) == {"s1": State.DONE}, "it is graded")


def test_a_pause_that_the_servers_clock_made_long_is_cut_short(shared: Site) -> None:
    """What was handed in or is to be tried again has a time an hour ahead."""
    engine = shared.machine()
    hand_in(shared.database, engine, "s1")
    with shared.database.write() as session:
        session.execute(update(JobRow).values(ready=JobRow.ready + HOUR))
    engine.start({"cpu": 1})

    until(lambda: states(shared.database) == {"s1": State.DONE}, "it is graded")


def test_a_worker_that_was_last_heard_of_in_the_future_is_not_thought_alive(shared: Site) -> None:
    """It vanished shortly before the server's clock was set back."""
    engine, gone = shared.machine(), KnownProcess("0123456789abcdef", "elsewher", {"cpu": 1})
    hand_in(shared.database, engine, "s1")
    with shared.database.write() as session:
        processes.hear(session, gone, forget=HOUR)
        session.execute(update(ProcessRow).values(heard=ProcessRow.heard + HOUR))
        assert take(session, SubmissionId("s1"), worker=f"{gone.id}/{gone.machine}", token="old", now=1.0)
        session.execute(update(JobRow).values(started=time.time() + HOUR))
        session.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))
    engine.start({"cpu": 1})

    until(lambda: states(shared.database) == {"s1": State.DONE}, "it is graded here")
