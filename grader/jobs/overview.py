"""What is going on in an installation, read from its database: queues, faults, who grades, and which versions meet.

Nothing is written, and each query uses an index or a table that is small while nobody waits, so that this may be asked
for while a class hands in.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.jobs import claims, worker_lock
from grader.jobs.cluster.heartbeat import SILENCE_SECONDS
from grader.store import processes
from grader.store.engine import server_time
from grader.store.records import State
from grader.store.tables import GradingRow, JobRow, SubmissionRow

DEVICES = ("cpu", "cuda")  # the queues that are named also while nobody waits in them
LATELY = 10_000  # results, among which broken ones are looked for


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """One queue: submissions that wait and that are graded, and for how many seconds the oldest one has waited."""

    waiting: int = 0
    running: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OpenFaults:
    """Faults of ours that nobody has made good yet.

    Attributes:
        retried: open submissions that are tried again after such a fault.
        killed: open submissions that are tried again since what ran them was killed.
        broken: submissions that ended so, of the last `LATELY` results.
    """

    retried: int
    killed: int
    broken: int


@dataclass(frozen=True, slots=True)
class Heard:
    """A worker, and how many seconds ago it was heard of; 0 for one whose process is known to live."""

    worker: str
    seconds_ago: float


def queues(session: Session) -> dict[str, QueueLoad]:
    """Return how busy each queue is."""
    job, now = JobRow, server_time(session, time.time)
    first = func.coalesce(func.min(SubmissionRow.created).filter(claims.WAITING), now)
    query = (
        select(job.queue, func.count(), func.count(job.claim), first)
        .join(SubmissionRow, SubmissionRow.id == job.submission_id)
        .group_by(job.queue)
    )
    found = dict.fromkeys(DEVICES, QueueLoad())
    for queue, number, running, since in session.execute(query):
        found[queue] = QueueLoad(number - running, running, max(0.0, now - since))
    return found


def faults(session: Session) -> OpenFaults:
    """Return the faults of ours that are open."""
    newest = session.scalar(select(func.max(GradingRow.id))) or 0
    broken = (
        select(func.count())
        .select_from(GradingRow)
        .join(SubmissionRow, SubmissionRow.current_grading == GradingRow.id)
        .where(GradingRow.id > newest - LATELY, GradingRow.incident != "", SubmissionRow.state == State.BROKEN.value)
        .where(SubmissionRow.id == GradingRow.submission_id)
    )
    retried, killed = (func.count().filter(column > 0) for column in (JobRow.faults, JobRow.kills))
    counts = session.execute(select(retried, killed).select_from(JobRow)).one()
    return OpenFaults(*counts, session.scalar(broken) or 0)


def workers(session: Session, folder: Path) -> list[Heard]:
    """Return who grades: on SQLite the processes with a lock in `folder`, on Postgres whoever shows a heartbeat."""
    if session.get_bind().dialect.name == "sqlite":
        return [Heard(worker, 0.0) for worker in worker_lock.alive(folder)]
    from grader.jobs.cluster.recovery import beats  # here: only Postgres needs its libraries

    return [Heard(str(number), seconds) for number, seconds in beats(session)]


def grading_code(session: Session) -> Counter[str]:
    """Return how many grading processes run each version of the code that grades; on SQLite they are not counted."""
    return Counter(one.version for one in processes.living(session, SILENCE_SECONDS) if one.version)
