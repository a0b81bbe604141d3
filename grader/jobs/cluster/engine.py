"""The engine on several machines: Procrastinate brings errands to the workers of this process.

An errand sends a worker to our table, from which it takes jobs as on one machine (`grader.jobs.claims`). The library
recovers errands of workers that it has not heard of for a while. Claims are ours, and so are their signs of life: a
process that was killed is known on its own machine by its file lock, one elsewhere by its silence.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from procrastinate import App
from procrastinate.exceptions import ConnectorException
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from grader.jobs.claims import LostTry
from grader.jobs.cluster.library import TRYOUTS, worker_app
from grader.jobs.cluster.notices import Notices
from grader.jobs.cluster.pages import SharedQueue, answer
from grader.jobs.engine import GradingEngine
from grader.jobs.locks import WorkerLock, machine_in
from grader.jobs.messages import Interrupt, Message, TryoutAnswered
from grader.jobs.queue import Grade
from grader.jobs.tryouts import Tryouts
from grader.jobs.worker import Worker
from grader.store import processes
from grader.store.engine import Database, StoreUnavailable, server_time
from grader.store.processes import KnownProcess
from grader.store.tables import JobRow

LOG = logging.getLogger(__name__)
BUSY_SHOW_SECONDS = 1.0  # between two heartbeats while something is graded here
SILENCE_SECONDS = 4.0  # without a heartbeat, and a process counts as gone
QUIET_SECONDS = 2.0  # the same, where it has no connection any more: that ends at once with the process
IDLE_LOOK_SECONDS = 2.0  # between two looks of the keeper while nobody waits and nothing is graded, on any machine
POLL_SECONDS = 60.0  # an errand comes with a notice, and for what the notice missed the keeper looks
TRYOUT_POLL_SECONDS = 10.0  # but not for tryouts
STALLED_SECONDS = 30.0  # without a heartbeat of the library, and what it brought a worker is brought to another one
REST_SECONDS = 1.0  # after the library's worker ended by itself, as it does without a database
_MORE_THREADS = 4  # beside those that grade, for the library and its driver
_CONNECTIONS = "attention-gym {}"  # how those of a process are called at the server
_CONNECTED = text("SELECT application_name FROM pg_stat_activity WHERE datname = current_database()")


class ClusterEngine(SharedQueue, GradingEngine):
    """Grades in this process what the machines that share a database have to grade.

    One job of a person runs at a time on each kind of device, over all machines.

    Beside what `GradingEngine` takes, `tryouts` runs what is only tried, and `version` is of the code that grades.
    """

    one_each = True

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
        GradingEngine.__init__(self, database, grade, workers=workers, **options)
        self.notices = Notices(database.engine.url)
        self._tryouts, self._version = tryouts, version
        self._shown = float("-inf")  # when the last heartbeat was
        self._free: dict[str, SimpleQueue[Worker]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deliveries: asyncio.Task[None] | None = None

    def _name(self, lock: WorkerLock) -> str:
        return f"{lock.id}/{machine_in(self._workers)}"

    def _serve(self) -> list[threading.Thread]:
        self._free = {worker.queue: SimpleQueue() for worker in self._running}
        for worker in self._running:
            self._free[worker.queue].put(worker)
        slots = Counter(worker.queue for worker in self._running)
        self.notices.listen(self._heed)
        if self._tryouts is not None:
            slots[TRYOUTS] = 1
        assert self._lock is not None
        return [threading.Thread(target=self._deliver, args=(self._lock.id, slots), daemon=True, name="deliveries")]

    def _stop_serving(self) -> None:
        super()._stop_serving()
        if self._loop is not None and self._deliveries is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliveries.cancel)

    def _hand_back(self, lock: WorkerLock) -> bool:
        self.notices.close()
        with self._database.write() as session:
            processes.leave(session, lock.id)
        return super()._hand_back(lock)

    def _wake_workers(self, queue: str, number: int) -> None:
        free = self._free.get(queue)
        for _ in range(min(number, free.qsize() if free else 0)):
            threading.Thread(target=self._work_in_free_slot, args=(queue,), daemon=True, name="grading worker").start()

    def _work_in_free_slot(self, queue: str) -> None:
        worker = self._free[queue].get()
        try:
            worker.work()
        except StoreUnavailable as fault:
            LOG.warning("a worker could not reach the queue; it looks again when the database answers: %s", fault)
        finally:
            self._free[queue].put(worker)

    def _pause(self) -> float:
        return IDLE_LOOK_SECONDS if self._all_quiet and not self._is_busy() else super()._pause()

    def _look_after(self) -> None:
        lock, since = self._lock, time.monotonic() - self._shown
        if lock is not None and since >= (BUSY_SHOW_SECONDS if self._is_busy() else processes.SHOW_SECONDS):
            slots = Counter(worker.queue for worker in self._running)
            with self._database.write() as session:
                known = KnownProcess(lock.id, machine_in(self._workers), dict(slots), self._version)
                processes.hear(session, known)
            self._shown = time.monotonic()
        super()._look_after()

    def _fate(self, session: Session, worker: str) -> LostTry | None:
        process, _, machine = worker.partition("/")
        if machine == machine_in(self._workers) and self._lock is not None and self._lock.dead(process):
            return LostTry.KILLED
        silent = _silence(session, worker, process)
        if silent >= SILENCE_SECONDS:
            return LostTry.VANISHED
        connected = silent < QUIET_SECONDS or _CONNECTIONS.format(process) in session.scalars(_CONNECTED).all()
        return None if connected else LostTry.VANISHED

    def _heed(self, message: Message) -> None:
        if isinstance(message, Interrupt):
            self.live.interrupt(message.id)

    def _come(self, queue: str, tryout: str) -> None:
        if not tryout:
            self._work_in_free_slot(queue)
        elif self._tryouts is not None:
            answer(self._database, self._tryouts, tryout)
            self.notices.publish(TryoutAnswered(tryout))

    def _deliver(self, process: str, slots: Counter[str]) -> None:
        with suppress(asyncio.CancelledError):  # that is how it is stopped
            asyncio.run(self._deliver_all(process, slots))

    async def _deliver_all(self, process: str, slots: Counter[str]) -> None:
        self._loop, self._deliveries = asyncio.get_running_loop(), asyncio.current_task()
        self._loop.set_default_executor(ThreadPoolExecutor(slots.total() + _MORE_THREADS, "brought"))
        url, name = self._database.engine.url, _CONNECTIONS.format(process)
        while not self._stop.is_set():
            app = worker_app(url, name, self._come)
            try:
                await _bring_all(app, slots)
            except Exception as fault:  # noqa: BLE001 - whatever ends the library's worker, it is begun again
                LOG.warning("jobs are not brought to this process, next in %s s: %r", REST_SECONDS, fault)
                await asyncio.sleep(REST_SECONDS)


async def _bring_all(app: App, slots: Counter[str]) -> None:
    async with app.open_async(), asyncio.TaskGroup() as group:
        group.create_task(_bring_again_what_stalls(app))
        for queue, number in slots.items():
            group.create_task(_bring(app, queue, number))


async def _bring(app: App, queue: str, slots: int) -> None:
    """Have errands of a queue brought to so many slots, up to the end of the library's worker."""
    await app.run_worker_async(
        queues=[queue],
        concurrency=slots,
        name=queue,
        delete_jobs="always",
        install_signal_handlers=False,
        fetch_job_polling_interval=TRYOUT_POLL_SECONDS if queue == TRYOUTS else POLL_SECONDS,
        abort_job_polling_interval=3600.0,  # nothing is aborted: tries are ended by notices of our own
        stalled_worker_timeout=STALLED_SECONDS,
    )
    raise ConnectionError("the library's worker ended by itself")


async def _bring_again_what_stalls(app: App) -> None:
    """Let the library give what it has brought to workers that are gone to others."""
    while True:
        for errand in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
            with suppress(ConnectorException):  # another process was first
                await app.job_manager.retry_job(errand, retry_at=datetime.now(UTC))
        await asyncio.sleep(STALLED_SECONDS)


def _silence(session: Session, worker: str, process: str) -> float:
    """Return for how many seconds nothing has been heard of a process; a claim is a sign of life, too."""
    now = server_time(session, time.time)
    claimed = session.scalar(select(func.max(JobRow.started)).where(JobRow.worker == worker))
    silent = [one.silent for one in processes.living(session, SILENCE_SECONDS) if one.id == process]
    if claimed is not None:
        silent.append(now - claimed)
    # A time that is ahead is of before the server's clock was set back, and says nothing of now.
    return min((seconds for seconds in silent if seconds > -SILENCE_SECONDS), default=SILENCE_SECONDS)
