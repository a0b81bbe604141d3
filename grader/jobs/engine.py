"""What both engines share: the workers of one process, and who looks after them.

The engine on one machine (`grader.jobs.embedded`) lets its workers look into the table; the one on several machines
(`grader.jobs.cluster`) has jobs delivered to them.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.delivery import Delivery
from grader.jobs.live import Live
from grader.jobs.queue import Grade, VersionsOf
from grader.jobs.retries import Retries
from grader.jobs.run_lock import RunLock
from grader.jobs.searches import Searches
from grader.jobs.table import TableJobs, TableQueue
from grader.jobs.turn_lengths import TurnLengths
from grader.jobs.wake_up import WakeUp
from grader.jobs.worker import Worker
from grader.jobs.worker_lock import WorkerLock
from grader.store.engine import Database, StoreUnavailable
from grader.store.gradings import Versions
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
KEEPER_SECONDS, BUSY_KEEPER_SECONDS = 0.5, 0.25  # between two looks after the queue; the latter while one is graded
DRAIN_LOOK_SECONDS = 0.05


def _unknown(_exercise: str) -> Versions:
    return Versions(exercise="", grader="", torch="")


class GradingEngine(TableQueue):
    """Runs the jobs of a database in this process, beside other processes; nothing runs before `run`.

    Args:
        database: where the submissions are.
        grade: gives the report on one submission; whatever it raises is a fault of ours.
        workers: the directory in which the processes of this machine show each other that they live.
        delivery: brings jobs to workers.
        versions: what submissions are graded with here.
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
        delivery: Delivery,
        versions: VersionsOf = _unknown,
        live: Live | None = None,
        retries: Retries | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Prepare to grade."""
        super().__init__(database, delivery, live or Live(), clock)
        self._grade = grade
        self._versions = versions
        self._workers = workers
        self._retries = retries or Retries()
        self._turns = TurnLengths(self._retries.quick_seconds)
        self._wake_ups: dict[str, WakeUp] = {}
        self._searches: dict[str, Searches] = {}
        self._stop = threading.Event()
        self._lock: WorkerLock | None = None
        self._running: list[Worker] = []
        self._threads: list[threading.Thread] = []

    @abstractmethod
    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""

    @abstractmethod
    def _serving(self, workers: list[Worker]) -> list[threading.Thread]:
        """Return the threads in which these workers work."""

    @abstractmethod
    def _stop_serving(self) -> None:
        """Wake whatever waits for jobs in those threads: `_stop` is set."""

    @abstractmethod
    def _hand_back(self, lock: WorkerLock) -> bool:
        """Queue again what this process holds; True if it held nothing."""

    @abstractmethod
    def _look_after(self) -> None:
        """Do what has to be done now and then, twice a second."""

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        # Their own for each run: a worker that outlived a drain must not wake up again.
        self._stop, self._searches = threading.Event(), {queue: Searches() for queue in slots}
        self._lock = WorkerLock(self._workers)
        self.live.slots = sum(slots.values())
        try:
            self.reconcile()
        except StoreUnavailable as fault:  # the keeper looks again, twice a second
            LOG.warning("what was left behind could not be handed over yet: %s", fault)
        self._running = [self._worker(queue, self._lock) for queue, number in slots.items() for _ in range(number)]
        self._threads = self._serving(self._running)
        self._threads.append(threading.Thread(target=self._keep, args=(self._stop,), daemon=True, name="job keeper"))
        for thread in self._threads:
            thread.start()

    def grades(self) -> bool:
        """Return whether what waits is graded here: from `run` to `drain`."""
        return self._lock is not None

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, if it is made here."""
        self.live.interrupt(id)

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back.

        Searches for causes that do not end within `seconds` are given up.
        """
        lock, self._lock = self._lock, None
        if lock is None:
            return True
        self._stop.set()
        self._stop_serving()
        try:
            self._await_claims(lock, time.monotonic() + seconds)
            return self._hand_back(lock)
        except StoreUnavailable as fault:  # the next start finds what we held: whoever signs out counts as dead
            LOG.warning("what is being graded could not be handed back: %s", fault)
            return False
        finally:
            for searches in self._searches.values():
                searches.cancel.cancel()
            lock.close()

    def _await_claims(self, lock: WorkerLock, end: float) -> None:
        alive = self._threads
        while time.monotonic() < end:
            if alive:
                alive[0].join(DRAIN_LOOK_SECONDS)
            else:
                time.sleep(DRAIN_LOOK_SECONDS)
            alive = [thread for thread in alive if thread.is_alive()]
            if any(searches.open for searches in self._searches.values()):
                continue
            if not alive or self._holds_nothing(lock):
                return

    def _holds_nothing(self, lock: WorkerLock) -> bool:
        """Return whether nobody waits for what the threads of this process still do."""
        with self._database.read() as session:
            # A worker that still runs what was cancelled meanwhile holds nothing that anybody waits for.
            return not any(lock.holds(worker) for worker in claims.holders(session))

    def _worker(self, queue: str, lock: WorkerLock) -> Worker:
        return Worker(
            queue=queue,
            jobs=TableJobs(self._database, self._delivery, lock.id, self._stop.is_set, self._clock),
            grade=self._grade,
            versions=self._versions,
            live=self.live,
            wake_up=self._wake_up(queue),
            searches=self._searches[queue],
            lock=RunLock(self._workers),
            stop=self._stop,
            retries=self._retries,
            turns=self._turns,
            clock=self._clock,
        )

    def _wake_up(self, queue: str) -> WakeUp:
        return self._wake_ups.setdefault(queue, WakeUp())

    def _keep(self, stop: threading.Event) -> None:
        failing = False
        while not stop.wait(KEEPER_SECONDS if self._is_idle() else BUSY_KEEPER_SECONDS):
            try:
                self._look_after()
                failing = False
            except Exception:  # the keeper must outlive a full disk or a lost connection, and look again
                if not failing:  # once: a log that grows by the second fills the disk as well
                    LOG.exception("looking after the queue failed; it is tried again every %s s", KEEPER_SECONDS)
                failing = True

    def _let_others_pass(self, session: Session) -> None:
        """End turns that are over where newcomers wait, or causes that nobody else has time for."""
        newcomers = claims.newcomers(session)
        for worker in self._running:
            if worker.queue in newcomers:
                worker.yield_turn()
        for queue, searches in self._searches.items():
            search, slots = searches.next, [worker for worker in self._running if worker.queue == queue]
            if search is None or not all(worker.held for worker in slots):
                continue
            members = not search.claim.outside
            if queue not in claims.newcomers(session, members=members):
                no_better = [one for one in slots if members or (one.held and one.held.claim.outside)]
                for worker in sorted(no_better, key=lambda worker: -worker.seconds)[:1]:  # one slot is enough
                    worker.yield_turn()

    def _is_idle(self) -> bool:
        busy = any(worker.held is not None or worker.searches.open for worker in self._running)
        return not self._stop.is_set() and not busy

    def _tokens(self) -> set[str]:
        return {worker.token for worker in self._running}
