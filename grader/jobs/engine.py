"""The workers of one process, and who looks after them: what both engines share, and the engine that needs no server.

The engine on one machine (`EmbeddedEngine`) has a thread for each worker, which sleeps until it is woken; the one on
several machines (`grader.jobs.cluster.engine`) works when Procrastinate brings it something. Both take jobs from the
same table in the same way. A keeper looks after what wakes nobody, twice a second while anything waits or is graded:
processes that died, jobs that had to wait before the next try, and jobs that another process has stored.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.claims import LostClaims, LostTry
from grader.jobs.live import Live
from grader.jobs.locks import RunLock, WorkerLock
from grader.jobs.queue import Grade, VersionsOf
from grader.jobs.table import Queue, TableJobs
from grader.jobs.worker import Retries, Searches, TurnLengths, Worker
from grader.store.engine import Database, StoreUnavailable, server_time
from grader.store.gradings import Versions
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
LOOK_SECONDS, BUSY_LOOK_SECONDS = 0.5, 0.25  # between two looks of the keeper; the latter while something is graded
DRAIN_LOOK_SECONDS = 0.05


class GradingEngine(Queue):
    """Runs the jobs of a database in this process, beside other processes; nothing runs before `run`.

    Args:
        grade: gives the report on one submission; whatever it raises is a fault of ours.
        workers: the directory in which the processes of this machine show each other that they live.
        versions: what submissions are graded with here.
    """

    one_each = False  # whether one job of a person is graded at a time on each kind of device

    def __init__(
        self,
        database: Database,
        grade: Grade,
        *,
        workers: Path,
        versions: VersionsOf = lambda _: Versions(exercise="", grader="", torch=""),
        live: Live | None = None,
        retries: Retries | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(database, live or Live(), clock)
        self._grade = grade
        self._versions = versions
        self._workers = workers
        self._retries = retries or Retries()
        self._turns = TurnLengths(self._retries.quick_seconds)
        self._searches: dict[str, Searches] = {}
        self._stop = threading.Event()
        self._lock: WorkerLock | None = None
        self._running: list[Worker] = []
        self._all_quiet = False  # at the last look nobody waited, and nothing was graded

    @abstractmethod
    def _serve(self) -> list[threading.Thread]:
        """Return the threads in which the workers work, or have something brought to them."""

    @abstractmethod
    def _wake_workers(self, queue: str, number: int) -> None:
        """Have so many workers that do nothing look what there is to do."""

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        # Their own for each run: a worker that outlived a drain must not wake up again.
        self._stop, self._searches = threading.Event(), {queue: Searches() for queue in slots}
        self._lock = lock = WorkerLock(self._workers)
        self.live.slots = sum(slots.values())
        try:
            self.reconcile()
        except StoreUnavailable as fault:  # the keeper looks again, twice a second
            LOG.warning("what was left behind could not be handed over yet: %s", fault)
        regrades = {queue: max(1, number // 2) for queue, number in slots.items()}
        jobs = TableJobs(self._database, self._name(lock), self._stop.is_set, self._clock, self.one_each, regrades)
        self._running = [self._worker(queue, jobs) for queue, number in slots.items() for _ in range(number)]
        keeper = threading.Thread(target=self._keep, args=(self._stop,), daemon=True, name="job keeper")
        for thread in (*self._serve(), keeper):
            thread.start()

    def grades(self) -> bool:
        """Return whether what waits is graded here: from `run` to `drain`."""
        return self._lock is not None

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, if it is made here."""
        self.live.interrupt(id)

    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""
        with self._database.read() as session:
            lost = self._lost(session, claims.holders(session))
        with self._database.write() as session:
            found = len(claims.adopt(session)) + sum(len(claims.release(session, *one)) for one in lost)
        if found:
            LOG.warning("%d open submissions were in nobody's hands; they are graded again", found)
        return found

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
            end = time.monotonic() + seconds
            while self._is_open(lock) and time.monotonic() < end:
                time.sleep(DRAIN_LOOK_SECONDS)
            return self._hand_back(lock)
        except StoreUnavailable as fault:  # the next start finds what we held: whoever signs out counts as dead
            LOG.warning("what is being graded could not be handed back: %s", fault)
            return False
        finally:
            for searches in self._searches.values():
                searches.cancel.cancel()
            lock.close()

    def _stop_serving(self) -> None:
        """Take nothing new, and have the searches ended that wait: `_stop` is set."""
        for queue in self._searches:
            self._wake_workers(queue, len(self._running))

    def _name(self, lock: WorkerLock) -> str:
        """Return how the claims of this process are signed."""
        return lock.id

    def _worker(self, queue: str, jobs: TableJobs) -> Worker:
        return Worker(
            queue=queue, jobs=jobs, grade=self._grade, versions=self._versions, live=self.live, stop=self._stop,
            searches=self._searches[queue], lock=RunLock(self._workers), retries=self._retries, turns=self._turns,
            clock=self._clock,
        )  # fmt: skip

    def _is_open(self, lock: WorkerLock) -> bool:
        """Return whether somebody waits for what the workers still do."""
        if any(searches.open for searches in self._searches.values()) or any(one.taking for one in self._running):
            return True
        with self._database.read() as session:  # what was cancelled meanwhile, and still runs, is no longer in there
            held = claims.holders(session)
        return any(lock.holds(worker) and tokens & self._tokens() for worker, tokens in held.items())

    def _hand_back(self, lock: WorkerLock) -> bool:
        """Queue again what this process holds; True if it held nothing."""
        with self._database.write() as session:
            held = [one for one in claims.holders(session).items() if lock.holds(one[0])]
            freed = [id for one in held for id in claims.release(session, *one, LostTry.HANDED_BACK)]
        for id in freed:
            self.live.interrupt(id)  # its thread would keep the process from ending
        return not freed

    def _keep(self, stop: threading.Event) -> None:
        failing = False
        while not stop.wait(self._pause()):
            try:
                self._look_after()
                failing = False
            except Exception:  # the keeper must outlive a full disk or a lost connection, and look again
                if not failing:  # once: a log that grows by the second fills the disk as well
                    LOG.exception("looking after the queue failed; it is tried again every %s s", LOOK_SECONDS)
                failing = True

    def _pause(self) -> float:
        """Return the seconds up to the keeper's next look."""
        return BUSY_LOOK_SECONDS if self._is_busy() else LOOK_SECONDS

    def _is_busy(self) -> bool:
        return any(worker.held is not None or worker.searches.open for worker in self._running)

    def _look_after(self) -> None:
        with self._database.read() as session:
            held, waiting = claims.held_and_waiting(session)
            self._all_quiet = not held and not waiting
            lost = self._lost(session, held)
            if waiting:
                now = server_time(session, self._clock)
                waiting = claims.depth(session, ready=now, one_each=self.one_each)
            if any(worker.held for worker in self._running):
                self._yield_to_newcomers(session)
                self._yield_to_searches(session)
        if lost and self.reconcile():
            waiting = dict.fromkeys(self._searches, len(self._running))
        for queue, searches in self._searches.items():
            # A search may have been put off for jobs which others have taken since.
            if number := max(waiting.get(queue, 0), int(searches.next is not None)):
                self._wake_workers(queue, number)

    def _lost(self, session: Session, held: Mapping[str, set[str]]) -> list[LostClaims]:
        """Return which of the claims that workers hold are in nobody's hands."""
        lock = self._lock
        if lock is None:
            return []
        lost = [
            (worker, tokens - self._tokens(), LostTry.HANDED_BACK)
            if lock.holds(worker)
            else (worker, tokens, self._fate(session, worker))
            for worker, tokens in held.items()
        ]
        return [(worker, tokens, loss) for worker, tokens, loss in lost if tokens and loss is not None]

    def _fate(self, _session: Session, worker: str) -> LostTry | None:
        """Return what became of the process that holds claims under this name; None if it lives."""
        return LostTry.KILLED if self._lock is not None and self._lock.dead(worker) else None

    def _yield_to_newcomers(self, session: Session) -> None:
        """End turns that are over where newcomers wait."""
        newcomers = claims.newcomers(session)
        for worker in self._running:
            if worker.queue in newcomers:
                worker.yield_turn()

    def _yield_to_searches(self, session: Session) -> None:
        """End one turn that is over where a search for a cause waits and every slot grades.

        A member's search may end anybody's turn, one of those outside only the turn of another of them; and none may
        where newcomers wait, who come first.
        """
        for queue, searches in self._searches.items():
            search, slots = searches.next, [worker for worker in self._running if worker.queue == queue]
            if search is None or not all(worker.held for worker in slots):
                continue
            members = not search.claim.outside
            if queue not in claims.newcomers(session, members=members):
                may_end = [one for one in slots if members or (one.held and one.held.claim.outside)]
                if may_end:
                    max(may_end, key=lambda worker: worker.seconds).yield_turn()

    def _tokens(self) -> set[str]:
        return {worker.token for worker in self._running}


class EmbeddedEngine(GradingEngine):
    """Runs the jobs of one database file: the table is the queue, threads of this process are the workers.

    A job starts as soon as its transaction is committed, because its commit wakes a worker. A database that cannot be
    written to, as on a full disk, ends no worker: it pauses, longer each time, and looks again.
    """

    def __init__(self, database: Database, grade: Grade, *, workers: Path, **options: Any) -> None:
        """Prepare to grade; the arguments are those of `GradingEngine`."""
        super().__init__(database, grade, workers=workers, **options)
        self._woken: dict[str, threading.Condition] = {}  # by queue
        self._calls: Counter[str] = Counter()  # by queue; so that none between a look and the wait is lost

    def wake(self, queue: str) -> None:
        """Wake a worker: something has been put into the queue, here or by another process."""
        self._wake_workers(queue, 1)

    def _wake_workers(self, queue: str, number: int) -> None:
        if (woken := self._woken.get(queue)) is not None:
            with woken:
                self._calls[queue] += 1
                woken.notify(number)

    def _serve(self) -> list[threading.Thread]:
        self._woken = {worker.queue: threading.Condition() for worker in self._running}
        return [
            threading.Thread(target=self._work, args=(worker,), daemon=True, name="grading worker")
            for worker in self._running
        ]

    def _work(self, worker: Worker) -> None:
        failures, woken = 0, self._woken[worker.queue]
        with closing(worker.lock):
            while not worker.stop.is_set():
                calls = self._calls[worker.queue]
                try:
                    worker.work()
                    failures = 0
                except Exception as fault:  # noqa: BLE001 - nothing may end the worker; the keeper finds what it was holding
                    self._rest(worker, fault, failures)
                    failures += 1
                    continue
                with woken:
                    woken.wait_for(lambda: self._calls[worker.queue] != calls or worker.stop.is_set())  # noqa: B023
            worker.work()

    def _rest(self, worker: Worker, fault: Exception, failures: int) -> None:
        rests = self._retries.rests
        seconds = rests[min(failures, len(rests) - 1)]
        with suppress(Exception):  # there may be no memory left to say it with
            LOG.error("a worker could not reach the queue, next look in %s s: %r", seconds, fault, exc_info=fault)
        worker.stop.wait(seconds)
