"""The engine on several machines: Procrastinate delivers jobs to the workers of this process.

A delivered job is claimed in our table before it is graded, so whatever the library delivers twice is graded once; what
it never delivers, or delivered to a worker that is gone, is delivered again (`grader.jobs.cluster.recovery`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from procrastinate import App

from grader.jobs import claims
from grader.jobs.claims import LostTry
from grader.jobs.cluster import tryouts as shared
from grader.jobs.cluster.heartbeat import Heartbeat
from grader.jobs.cluster.library import TRYOUTS, Deferred, worker_app
from grader.jobs.cluster.notices import Notices
from grader.jobs.cluster.recovery import BEAT_SECONDS, Holder, Recovery, connection_name, machine_in
from grader.jobs.engine import GradingEngine
from grader.jobs.messages import Interrupt, Message, TryoutAnswered
from grader.jobs.queue import Grade
from grader.jobs.table import TableJobs
from grader.jobs.tryouts import Tryouts
from grader.jobs.worker import Worker
from grader.jobs.worker_lock import WorkerLock
from grader.store.engine import Database
from grader.store.processes import KnownProcess
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
POLL_SECONDS = 10.0  # a job comes with a notice, and what the notice missed is announced by the recovery
FORGET_SECONDS = 60.0  # without a heartbeat, and the library deletes a worker; what it held is found much earlier
REST_SECONDS = 1.0  # after the library's worker ended by itself, as it does without a database
_MORE_THREADS = 4  # beside those that grade, for the library and its driver


class ClusterEngine(GradingEngine):
    """Grades in this process what the machines that share a database have to grade.

    Args:
        database: a Postgres, where the submissions are.
        grade: gives the report on one submission; whatever it raises is a fault of ours.
        workers: the directory in which the processes of this machine show each other that they live.
        tryouts: runs what is only tried; None if nothing is tried here.
        version: of the code that grades.
        options: those of `GradingEngine`.
    """

    def __init__(
        self,
        database: Database,
        grade: Grade,
        *,
        workers: Path,
        tryouts: Tryouts | None = None,
        version: str = "",
        **options: Any,
    ) -> None:
        """Prepare to grade."""
        super().__init__(database, grade, workers=workers, delivery=Deferred(), **options)
        self._notices = Notices(database.engine.url)
        self._tryouts, self._version = tryouts, version
        self._heartbeat: Heartbeat | None = None
        self._recovery: Recovery | None = None
        self._next_look = 0.0
        self._free: dict[str, SimpleQueue[Worker]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deliveries: asyncio.Task[None] | None = None

    def wake(self, queue: str) -> None:
        """Do nothing: with the transaction that deferred the job, Postgres wakes a worker."""

    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""
        assert self._lock is not None
        machine = machine_in(self._workers)
        self._recovery = Recovery(self._database, self._delivery, self._lock, self._tokens, machine)
        return self._recovery.look(full=True)

    def _serving(self, workers: list[Worker]) -> list[threading.Thread]:
        self._free = {worker.queue: SimpleQueue() for worker in workers}
        for worker in workers:
            self._free[worker.queue].put(worker)
        slots = Counter(worker.queue for worker in workers)
        self._notices.listen(self._heed)
        assert self._lock is not None
        known = KnownProcess(self._lock.id, machine_in(self._workers), dict(slots), self._version)
        self._heartbeat = Heartbeat(self._database, known)
        if self._tryouts is not None:
            slots[TRYOUTS] = 1
        return [threading.Thread(target=self._deliver, args=(slots,), daemon=True, name="deliveries")]

    def _stop_serving(self) -> None:
        self._search_in_free_slots()
        if self._loop is not None and self._deliveries is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliveries.cancel)

    def _hand_back(self, lock: WorkerLock) -> bool:
        self._notices.close()
        if self._heartbeat is not None:
            self._heartbeat.leave()
        with self._database.write() as session:
            names = [name for name in claims.holders(session) if lock.holds(name)]
            freed = [id for name in names for id in claims.release(session, name, LostTry.HANDED_BACK)]
            self._delivery.put(session, freed)
        for id in freed:
            self.live.interrupt(id)  # its thread would keep the process from ending
        return not freed

    def _look_after(self) -> None:
        if any(worker.held is not None for worker in self._running):
            with self._database.read() as session:
                self._let_others_pass(session)
        self._search_in_free_slots()
        if self._heartbeat is not None and self._lock is not None:
            self._heartbeat.show()
        if self._recovery is not None and self._lock is not None and time.monotonic() >= self._next_look:
            self._recovery.look()
            self._next_look = time.monotonic() + self._recovery.pause

    def _search_in_free_slots(self) -> None:
        """Search for causes that were put off for jobs which others have taken: nothing is delivered that wakes us."""
        for queue, searches in self._searches.items():
            # At a stop the thread waits for a slot: nobody looks once more.
            if searches.next and (self._stop.is_set() or not self._free[queue].empty()):
                threading.Thread(
                    target=self._search_in, args=(self._free[queue],), daemon=True, name="searches"
                ).start()

    def _search_in(self, free: SimpleQueue[Worker]) -> None:
        worker = free.get()
        try:
            worker.search()
        finally:
            free.put(worker)

    def _heed(self, message: Message) -> None:
        if isinstance(message, Interrupt):
            self.live.interrupt(message.id)

    def _deliver(self, slots: Counter[str]) -> None:
        try:
            asyncio.run(self._deliver_all(slots))
        except asyncio.CancelledError:
            pass  # that is how it is stopped

    async def _deliver_all(self, slots: Counter[str]) -> None:
        self._loop, self._deliveries = asyncio.get_running_loop(), asyncio.current_task()
        self._loop.set_default_executor(ThreadPoolExecutor(slots.total() + _MORE_THREADS, "delivered"))
        assert self._lock is not None
        url, name = self._database.engine.url, connection_name(self._lock.id)
        while not self._stop.is_set():
            try:
                await _work(worker_app(url, name, self._grade_delivered, self._try_delivered), slots)
            except Exception as fault:  # noqa: BLE001 - whatever ends the library's worker, it is begun again
                LOG.warning("jobs are not delivered to this process, next in %s s: %r", REST_SECONDS, fault)
                await asyncio.sleep(REST_SECONDS)

    def _grade_delivered(self, queue: str, number: int, id: SubmissionId) -> None:
        lock, free = self._lock, self._free[queue]
        if lock is None:
            return  # it drains; the job is delivered again
        worker = free.get()
        try:
            assert isinstance(worker.jobs, TableJobs)
            holder = Holder(lock.id, machine_in(self._workers), number)
            worker.jobs = replace(worker.jobs, process=str(holder))
            worker.serve_one(id)
        finally:
            free.put(worker)

    def _try_delivered(self, id: str) -> None:
        if self._tryouts is not None:
            shared.answer(self._database, self._tryouts, id)
            self._notices.publish(TryoutAnswered(id))


async def _work(app: App, slots: Counter[str]) -> None:
    """Have jobs delivered for so many slots of each queue, up to the end of one of the library's workers."""
    async with app.open_async(), asyncio.TaskGroup() as group:
        for queue, number in slots.items():
            group.create_task(_serve(app, queue, number))


async def _serve(app: App, queue: str, number: int) -> None:
    await app.run_worker_async(
        queues=[queue],
        concurrency=number,
        name=queue,
        delete_jobs="always",
        install_signal_handlers=False,
        fetch_job_polling_interval=POLL_SECONDS,
        abort_job_polling_interval=FORGET_SECONDS,  # we end tries by notices of our own
        update_heartbeat_interval=POLL_SECONDS if queue == TRYOUTS else BEAT_SECONDS,  # of a tryout nobody asks
        stalled_worker_timeout=FORGET_SECONDS,
    )
    raise ConnectionError("the library's worker ended by itself")
