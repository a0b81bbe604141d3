"""A small class on a database file, for the tests of the engine and for the processes that they start and kill."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.box.observations import CallSeen
from grader.jobs import claims, shares
from grader.jobs.queue import Claim, Tracker
from grader.jobs.table import Queue
from grader.judge.report import Report, Status
from grader.store import migrate, people, submissions
from grader.store.engine import Database
from grader.store.records import Role, State, Submission, SubmissionId, User
from grader.store.tables import GradingRow, JobRow, SubmissionRow

PATIENCE_SECONDS = 300.0


def open_database(folder: Path) -> Database:
    database = Database(f"sqlite:///{folder / 'class.sqlite3'}")
    migrate.upgrade(database)
    return database


def full_marks(submission: Submission, tracker: Tracker) -> Report:
    tracker(CallSeen("looked away"))
    return Report(
        exercise=submission.exercise,
        status=Status.GRADED,
        score=100.0,
        seed=submission.seed,
        device=submission.device,
        seconds=0.0,
    )


def hand_in(
    database: Database,
    engine: Queue,
    id: str,
    *,
    user: str | None = None,
    priority: int = 0,
    exercise: str = "softmax",
    device: str = "cpu",
    payer: str = "",
) -> Submission:
    """Store a submission of a person, who is added if need be, and put it into the queue."""
    name = user or f"owner of {id}"
    with database.write() as session:
        known = people.credentials(session, name)
        owner = known.user if known else people.add(session, name, Role.STUDENT, key=name, password="hash", now=1.0)
        stored = submissions.add(session, _draft(owner, id, exercise, device))
        charged = shares.home(name) if owner.role is Role.LEARNER else shares.member(owner.id)
        engine.submit(session, stored.id, queue=device, priority=priority, payer=payer or charged)
    return stored


def take(session: Session, id: SubmissionId, *, worker: str, token: str, now: float) -> Claim | None:
    return claims._claimed(session, JobRow.submission_id == id, worker=worker, token=token, now=now)


def gradings(database: Database) -> dict[str, int]:
    query = select(GradingRow.submission_id, func.count()).group_by(GradingRow.submission_id)
    with database.read() as session:
        return {id: number for id, number in session.execute(query)}  # noqa: C416 - a row is no pair to mypy


def states(database: Database) -> dict[str, State]:
    query = select(SubmissionRow.id, submissions.STATE).outerjoin(JobRow, JobRow.submission_id == SubmissionRow.id)
    with database.read() as session:
        return {id: State(state) for id, state in session.execute(query)}


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.005)


def _draft(owner: User, id: str, exercise: str, device: str) -> Submission:
    return Submission(
        id=SubmissionId(id),
        user=owner.id,
        exercise=exercise,
        exercise_version="v1",
        seed=1,
        device=device,
        created=time.time(),
        raw=b"x = 1",
    )
