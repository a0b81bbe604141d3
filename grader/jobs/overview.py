"""What is going on in an installation, read from its database: queues, faults, who grades, and what came of what.

Nothing is written, and each query uses an index or a table that is small while nobody waits, so that this may be asked
for while a class hands in.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from grader.jobs import claims, locks
from grader.store import processes
from grader.store.engine import server_time
from grader.store.processes import SILENCE_SECONDS
from grader.store.records import Reason, State
from grader.store.tables import GradingRow, JobRow, SubmissionRow

DEVICES = ("cpu", "cuda")  # the queues that are named also while nobody waits in them
LATELY = 10_000  # results, among which broken ones are looked for
BUCKETS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)  # seconds of waiting, each the end of one
AGAIN_SECONDS = 60.0  # so long what is stored late is looked for
_AT_ONCE = 1000  # rows


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
        return [Heard(worker, 0.0) for worker in locks.alive(folder)]
    living = processes.living(session, SILENCE_SECONDS)
    return [Heard(one.id, max(0.0, one.silent)) for one in living if one.slots]


def grading_code(session: Session) -> Counter[str]:
    """Return how many grading processes run each version of the code that grades; on SQLite they are not counted."""
    return Counter(one.version for one in processes.living(session, SILENCE_SECONDS) if one.version)


@dataclass(slots=True)
class Tally:
    """What has come of submissions since the first look, whoever stored it; nothing is counted twice or left out.

    Each look reads what is new by the primary key. On Postgres a result may become visible after a later one, so the
    last minute is looked at again each time. Not covered: a transaction that takes longer than that, and on SQLite the
    results of ids that are given once more after the newest ones were deleted, between that and the next look.

    Attributes:
        clock: gives seconds, from whatever beginning.
        verdicts: results by their status; `broken` for those that ended in a fault of ours.
        repeated: tries that had come to no verdict before: faults of ours, kills, and those that let others go first.
        waits: for each bucket, and one beyond, how many waited so long from the hand-in to the verdict.
        waited: seconds that all of these waited together.
    """

    clock: Callable[[], float] = time.monotonic
    verdicts: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    waits: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    waited: float = 0.0
    _floor: int | None = None
    _seen: dict[tuple[int, str], float] = field(default_factory=dict)

    def look(self, session: Session) -> None:
        """Count what was stored since the last time; the first time, only note where to begin."""
        grading, submission = GradingRow, SubmissionRow
        newest = session.scalar(select(func.max(grading.id))) or 0
        if self._floor is None:
            self._floor = newest
            return
        self._floor = min(self._floor, newest)
        query = (
            select(
                grading.id, grading.submission_id, grading.status, grading.incident, grading.reason,
                grading.try_number, submission.created, submission.finished,
            )
            .join(submission, submission.id == grading.submission_id)
            .where(grading.id > self._floor)
        )  # fmt: skip
        now = self.clock()
        for row in session.execute(query.execution_options(yield_per=_AT_ONCE)):
            if (row.id, row.submission_id) not in self._seen:
                self._seen[row.id, row.submission_id] = now
                self._count(row)
        self._forget(now - AGAIN_SECONDS)

    def _count(self, row: Row[int, str, str, str, str, int, float, float | None]) -> None:
        self.verdicts[State.BROKEN.value if row.incident else row.status] += 1
        if row.reason != Reason.HAND_IN.value or row.finished is None:
            return
        self.repeated += row.try_number - 1
        seconds = max(0.0, row.finished - row.created)
        self.waits[bisect_left(BUCKETS, seconds)] += 1
        self.waited += seconds

    def _forget(self, before: float) -> None:
        """Look no more at what was seen so early."""
        old = [key for key, seen in self._seen.items() if seen <= before]
        self._floor = max([self._floor or 0, *(id for id, _ in old)])
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] > self._floor}
