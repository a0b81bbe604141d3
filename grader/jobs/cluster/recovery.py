"""Finds what was in the hands of workers that are gone, and what nobody is going to deliver.

A worker shows that it lives by the library's heartbeat, and by the connections of its process, which end with it. One
on this machine, whose process has ended, is known at once by its lock. All of it is one transaction, and one process at
a time does it. It also announces what may be taken now, so that the library's workers need not look for themselves.
Only this module and `grader.jobs.cluster.library` read the library's tables.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.claims import LONGEST_PAUSE_SECONDS, WAITING, LostTry
from grader.jobs.cluster.library import TASK
from grader.jobs.delivery import Delivery
from grader.jobs.worker_lock import WorkerLock
from grader.store.engine import Database
from grader.store.records import SubmissionId
from grader.store.tables import JobRow

LOG = logging.getLogger(__name__)
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 4.0  # without a heartbeat, and a worker counts as gone
QUIET_SECONDS = 2.0  # the same, where its process has no connection any more: that ends at once with the process
LOOK_SECONDS = 0.5  # between two looks while there is something to do
IDLE_LOOK_SECONDS = 2.0  # and while there is nothing; what is lost meanwhile is missed after the silence all the same
FULL_LOOK_SECONDS = 5.0  # between two looks for jobs that nobody is going to deliver
TURN = text("SELECT pg_try_advisory_xact_lock(hashtext('grader: recovery'))")
# A time that is ahead is of before the server's clock was set back, and says nothing of now.
_BEATING = text(
    "SELECT id, extract(epoch FROM clock_timestamp() - last_heartbeat) FROM procrastinate_workers"
    " WHERE last_heartbeat BETWEEN now() - make_interval(secs => :silence) AND now() + make_interval(secs => :silence)"
)
_CONNECTED = text("SELECT application_name FROM pg_stat_activity WHERE datname = current_database()")
_AHEAD = text(
    "UPDATE procrastinate_jobs SET scheduled_at = now()"
    " WHERE status = 'todo' AND scheduled_at > now() + make_interval(secs => :longest)"
)
_BEATS = text(
    "SELECT id, greatest(extract(epoch FROM clock_timestamp() - last_heartbeat), 0) FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => :silence) ORDER BY id"
)
_STRAY = text(
    "DELETE FROM procrastinate_jobs WHERE status = 'doing'"
    " AND (worker_id IS NULL OR task_name = :task AND worker_id <> ALL(:beating))"
)
# What had to wait, for its pause or for its person's lock, is announced by nobody; nor is what was announced in vain.
_ANNOUNCED = text(
    "SELECT pg_notify('procrastinate_queue_v1#' || queue_name,"
    " json_build_object('type', 'job_inserted', 'job_id', min(id))::text)"
    " FROM procrastinate_jobs WHERE status = 'todo' AND coalesce(scheduled_at, now()) <= now() GROUP BY queue_name"
)
_UNDELIVERED = text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs AS it"
    " WHERE it.queueing_lock = jobs.submission_id AND it.status IN ('todo', 'doing'))"
)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a claim, as the table has it: its process's lock, its machine, its number in the library."""

    lock: str
    machine: str
    number: int

    def __str__(self) -> str:
        return f"{self.lock}/{self.machine}/{self.number}"

    @classmethod
    def read(cls, name: str) -> Holder:
        """Return what a name says."""
        lock, machine, number = name.split("/")
        return cls(lock, machine, int(number))


@dataclass(slots=True)
class Recovery:
    """Looks after the claims of all machines, for one process.

    Attributes:
        database: where the jobs are.
        delivery: brings them to workers.
        lock: of this process.
        tokens: gives the claims that this process is working on.
        machine: the id of this machine.
        pause: seconds up to the next look.
    """

    database: Database
    delivery: Delivery
    lock: WorkerLock
    tokens: Callable[[], set[str]]
    machine: str
    pause: float = field(default=LOOK_SECONDS, init=False)
    _next: float = field(default=0.0, init=False)

    def look(self, *, full: bool = False) -> int:
        """Have everything delivered again that is in nobody's hands; return how many jobs that were.

        Args:
            full: look now for jobs that nobody is going to deliver, and not only every few seconds.
        """
        with self.database.write() as session:
            if not session.scalar(TURN):
                return 0
            held, due = claims.holders(session), full or time.monotonic() >= self._next
            beating = _beating(session) if held or due else {}
            freed = [id for one in held.items() for id in self._freed(session, one, beating)]
            announced = session.execute(_ANNOUNCED).all()
            self.pause = LOOK_SECONDS if held or announced else IDLE_LOOK_SECONDS
            if not freed and not due:
                return 0
            self._next = time.monotonic() + FULL_LOOK_SECONDS
            session.execute(_STRAY, {"task": TASK, "beating": sorted(beating)})
            session.execute(_AHEAD, {"longest": LONGEST_PAUSE_SECONDS})
            claims.adopt(session)
            lost = [
                SubmissionId(id) for id in session.scalars(select(JobRow.submission_id).where(WAITING, _UNDELIVERED))
            ]
            self.delivery.put(session, lost)
        if lost:
            LOG.warning("%d open submissions were in nobody's hands; they are graded again", len(lost))
        return len(lost)

    def _freed(self, session: Session, held: tuple[str, set[str]], beating: dict[int, float]) -> list[SubmissionId]:
        name, tokens = held
        holder = Holder.read(name)
        if self.lock.holds(name):
            own = self.tokens()
            return [] if tokens <= own else claims.release(session, name, LostTry.HANDED_BACK, keep=own)
        killed = holder.machine == self.machine and self.lock.dead(holder.lock)
        seconds = beating.get(holder.number, SILENCE_SECONDS)
        if not killed and (seconds < QUIET_SECONDS or (seconds < SILENCE_SECONDS and _connected(session, holder))):
            return []
        beating.pop(holder.number, None)  # else what it was brought would not count as stray yet
        return claims.release(session, name, LostTry.KILLED if killed else LostTry.VANISHED)


def connection_name(lock: str) -> str:
    """Return the name under which the connections of a process are known at the server."""
    return f"attention-gym {lock}"


def _beating(session: Session) -> dict[int, float]:
    """Return how many seconds ago each worker that may live was heard of, by its number in the library."""
    return {id: float(seconds) for id, seconds in session.execute(_BEATING, {"silence": SILENCE_SECONDS})}


def _connected(session: Session, holder: Holder) -> bool:
    return connection_name(holder.lock) in session.scalars(_CONNECTED).all()


def beats(session: Session) -> list[tuple[int, float]]:
    """Return the number in the library of each worker that lives, and how many seconds ago it was heard of."""
    if session.scalar(text("SELECT to_regclass('procrastinate_workers')")) is None:
        return []  # no service has begun to grade on this database yet
    found = session.execute(_BEATS, {"silence": SILENCE_SECONDS})
    return [(number, float(seconds)) for number, seconds in found]


def machine_in(workers: Path) -> str:
    """Return the id of the machine that has this directory, drawn at the first time."""
    file = workers / "machine"
    if not file.exists():
        workers.mkdir(0o700, parents=True, exist_ok=True)
        draft = workers / f"machine.{secrets.token_hex(4)}"
        draft.write_text(secrets.token_hex(4))
        with suppress(FileExistsError):
            os.link(draft, file)  # whole at once, and the first one stays
        draft.unlink()
    return file.read_text()
