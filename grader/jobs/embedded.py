"""The engine that needs no server: a table is the queue, threads of this process are the workers.

A job starts as soon as its transaction is committed, because its commit wakes a worker. Every half second a keeper
looks after what wakes nobody: other processes that died, jobs that had to wait before the next try, and jobs
that another process has stored.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.claims import LostTry
from grader.jobs.delivery import NoDelivery
from grader.jobs.engine import GradingEngine
from grader.jobs.queue import Grade
from grader.jobs.worker import Worker
from grader.jobs.worker_lock import WorkerLock
from grader.store.engine import Database

LOG = logging.getLogger(__name__)


class EmbeddedEngine(GradingEngine):
    """Runs the jobs of one database file; the arguments are those of `GradingEngine`."""

    def __init__(self, database: Database, grade: Grade, *, workers: Path, **options: Any) -> None:
        """Prepare to grade."""
        super().__init__(database, grade, workers=workers, delivery=NoDelivery(), **options)

    def wake(self, queue: str) -> None:
        """Wake a worker: something has been put into the queue, here or by another process."""
        self._wake_up(queue).wake()

    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""
        with self._database.read() as session:
            lost = [worker for worker, tokens in claims.holders(session).items() if self._lost(worker, tokens)]
        with self._database.write() as session:
            found = len(claims.adopt(session)) + sum(self._release(session, worker) for worker in lost)
        if found:
            LOG.warning("%d open submissions were in nobody's hands; they are graded again", found)
        return found

    def _release(self, session: Session, worker: str) -> int:
        own = self._lock is not None and worker == self._lock.id
        loss = LostTry.HANDED_BACK if own else LostTry.KILLED
        return len(claims.release(session, worker, loss, keep=self._tokens() if own else ()))

    def _serving(self, workers: list[Worker]) -> list[threading.Thread]:
        return [threading.Thread(target=worker.serve, daemon=True, name="grading worker") for worker in workers]

    def _stop_serving(self) -> None:
        for wake_up in self._wake_ups.values():
            wake_up.wake_all()

    def _hand_back(self, lock: WorkerLock) -> bool:
        with self._database.write() as session:
            return not claims.release(session, lock.id, LostTry.HANDED_BACK)

    def _look_after(self) -> None:
        with self._database.read() as session:
            held = claims.holders(session)
            ready = claims.depth(session, ready=self._clock())
            self._let_others_pass(session)
        if any(self._lost(worker, tokens) for worker, tokens in held.items()):
            self.reconcile()
        for queue, number in ready.items():
            self._wake_up(queue).wake(number)

    def _lost(self, worker: str, tokens: set[str]) -> bool:
        lock = self._lock
        if lock is None:
            return False
        return not tokens <= self._tokens() if worker == lock.id else lock.dead(worker)
