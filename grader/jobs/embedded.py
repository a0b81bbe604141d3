"""The engine that needs no server: the submission table is the queue, threads of this process are the slots.

A job starts as soon as its transaction is committed, because the commit rings a bell. Every half second a keeper looks
after what no bell tells: workers of other processes that died, jobs that had to wait before the next try, and jobs
that another process has stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.bell import Bell
from grader.jobs.engine import Grade
from grader.jobs.live import Live
from grader.jobs.presence import Presence
from grader.jobs.run_lock import RunLock
from grader.jobs.slot import Retries, Slot
from grader.jobs.table import TableEngine
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
KEEPER_SECONDS = 0.5
DRAIN_LOOK_SECONDS = 0.05


class EmbeddedEngine(TableEngine):
    """Runs the jobs of one database file in this process, beside other processes; nothing runs before `run`.

    Args:
        database: where the submissions are.
        grade: gives the report on one submission; whatever it raises is a fault of ours.
        workers: the directory in which the processes show each other that they live.
        live: where watchers hear of what happens.
        retries: what to do after a fault of ours.
        clock: gives the seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        grade: Grade,
        *,
        workers: Path,
        live: Live | None = None,
        retries: Retries | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Prepare to grade."""
        super().__init__(database, live or Live(), clock)
        self._grade = grade
        self._workers = workers
        self._retries = retries or Retries()
        self._bells: dict[str, Bell] = {}
        self._stop = threading.Event()
        self._presence: Presence | None = None
        self._slots: list[Slot] = []
        self._threads: list[threading.Thread] = []

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        self._stop = threading.Event()  # its own for each run: a slot that outlived a drain must not wake up again
        self._presence = Presence(self._workers)
        self.live.slots = sum(slots.values())
        try:
            self.reconcile()
        except StoreUnavailable as fault:  # the keeper looks again, twice a second
            LOG.warning("what was left behind could not be handed over yet: %s", fault)
        self._slots = [self._slot(queue, self._presence) for queue, number in slots.items() for _ in range(number)]
        self._threads = [threading.Thread(target=slot.serve, daemon=True, name="grading slot") for slot in self._slots]
        self._threads.append(threading.Thread(target=self._keep, args=(self._stop,), daemon=True, name="job keeper"))
        for thread in self._threads:
            thread.start()

    def ring(self, queue: str) -> None:
        """Wake a slot: something has been put into the queue, here or by another process."""
        self._bell(queue).ring()

    def withdraw(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, if it is made here."""
        self.live.withdraw(id)

    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""
        with self._database.read() as session:
            lost = [worker for worker, tokens in claims.holders(session).items() if self._lost(worker, tokens)]
        with self._database.write() as session:
            found = claims.adopt(session) + sum(self._release(session, worker) for worker in lost)
        if found:
            LOG.warning("%d open submissions were in nobody's hands; they are graded again", found)
        return found

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        presence, self._presence = self._presence, None
        if presence is None:
            return True
        self._stop.set()
        for bell in self._bells.values():
            bell.ring_all()
        try:
            self._await_claims(presence, time.monotonic() + seconds)
            with self._database.write() as session:
                return claims.release(session, presence.id, forgive=True) == 0
        except StoreUnavailable as fault:  # the next start finds what we held: whoever signs out counts as dead
            LOG.warning("what is being graded could not be handed back: %s", fault)
            return False
        finally:
            presence.close()

    def _release(self, session: Session, worker: str) -> int:
        own = self._presence is not None and worker == self._presence.id
        return claims.release(session, worker, keep=self._held(worker), forgive=own)

    def _await_claims(self, presence: Presence, end: float) -> None:
        alive = self._threads
        while alive and time.monotonic() < end:
            alive[0].join(DRAIN_LOOK_SECONDS)
            alive = [thread for thread in alive if thread.is_alive()]
            with self._database.read() as session:
                # A slot that still runs what was cancelled meanwhile holds nothing that anybody waits for.
                if presence.id not in claims.holders(session):
                    return

    def _slot(self, queue: str, presence: Presence) -> Slot:
        return Slot(
            queue=queue,
            database=self._database,
            grade=self._grade,
            live=self.live,
            bell=self._bell(queue),
            lock=RunLock(self._workers),
            worker=presence.id,
            stop=self._stop,
            retries=self._retries,
            clock=self._clock,
        )

    def _bell(self, queue: str) -> Bell:
        return self._bells.setdefault(queue, Bell())

    def _keep(self, stop: threading.Event) -> None:
        failing = False
        while not stop.wait(KEEPER_SECONDS):
            try:
                self._look_after()
                failing = False
            except Exception:  # the keeper must outlive a full disk or a lost connection, and look again
                if not failing:  # once: a log that grows by the second fills the disk as well
                    LOG.exception("looking after the queue failed; it is tried again every %s s", KEEPER_SECONDS)
                failing = True

    def _look_after(self) -> None:
        with self._database.read() as session:
            held = claims.holders(session)
            ready = claims.depth(session, ready=self._clock())
            newcomers = claims.newcomers(session)
        if any(self._lost(worker, tokens) for worker, tokens in held.items()):
            self.reconcile()
        for queue, number in ready.items():
            self._bell(queue).ring(number)
        for slot in self._slots:
            if slot.queue in newcomers:
                slot.give_way()

    def _lost(self, worker: str, tokens: set[str]) -> bool:
        presence = self._presence
        if presence is None:
            return False
        if worker == presence.id:
            return not tokens <= self._held(worker)
        return presence.dead(worker)

    def _held(self, worker: str) -> set[str]:
        if self._presence is None or worker != self._presence.id:
            return set()
        return {slot.token for slot in self._slots}
