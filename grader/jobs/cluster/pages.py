"""What a process that serves pages has of the queue where machines share a database: jobs, progress, and tryouts.

Pages beside a sandbox have grading processes of their own; without one, all grading is elsewhere.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from grader.errors import GraderFault
from grader.jobs.cluster.library import TRYOUTS, defer
from grader.jobs.cluster.notices import Notices
from grader.jobs.live import Live
from grader.jobs.locks import machine_in
from grader.jobs.messages import Interrupt, Message, Ready, TryoutAnswered, heed_progress
from grader.jobs.supervisor import Start, WorkerSupervisor
from grader.jobs.table import Queue
from grader.jobs.tryouts import TryoutOutcome, TryoutRequest, Tryouts
from grader.store import processes
from grader.store.engine import Database, StoreUnavailable, server_time
from grader.store.processes import SILENCE_SECONDS
from grader.store.records import SubmissionId
from grader.store.tables import TryoutRow

LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 30.0  # a little more than the page has
MOST = 32  # tryouts at once


class SharedQueue(Queue):
    """A queue from which workers on all machines take; `notices` is what processes of all machines say."""

    notices: Notices

    def start(self, slots: Mapping[str, int]) -> None:
        """Begin to grade and return; what waits for a device that is not here may be for another machine."""
        self.run(slots)

    def elsewhere(self) -> dict[str, int]:
        """Return how many submissions are graded at once on each device, on whatever machine."""
        with self._database.read() as session:
            living = processes.living(session, SILENCE_SECONDS)
        slots = sum((Counter(one.slots) for one in living), Counter[str]())
        self.live.slots = max(1, slots.total())
        return slots

    def wake(self, queue: str) -> None:
        """Do nothing: with the transaction that deferred an errand, Postgres wakes a worker."""

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, on whatever machine it is made."""
        self.notices.publish(Interrupt(id))

    def _announce(self, session: Session, queue: str) -> None:
        defer(session, queue)


class RemoteQueue(SharedQueue):
    """Hands over what is handed in and tried, and hears what comes of it; grades nothing here."""

    def __init__(self, database: Database, notices: Notices) -> None:
        super().__init__(database, Live(), time.time)
        self.tryouts, self.notices = SharedTryouts(database), notices

    def wait(self) -> Ready:
        """Return where submissions are graded, in words."""
        return Ready("sandbox on another machine")

    def run(self, slots: Mapping[str, int]) -> None:
        """Listen; those who grade are elsewhere."""
        self.notices.listen(self._heed)

    def drain(self, seconds: float) -> bool:
        """Stop listening; nothing is graded here, so nothing has to be handed back."""
        self.tryouts.close()
        self.notices.close()
        return True

    def _heed(self, message: Message) -> None:
        if isinstance(message, TryoutAnswered):
            self.tryouts.look()
        else:
            heed_progress(self.live, message)


class ClusterSupervisor(SharedQueue, WorkerSupervisor):
    """Supervises the grading processes of one of several machines, and hears what those of the others say.

    Beside what `WorkerSupervisor` takes, `workers` is the directory in which the processes here show that they live.
    """

    def __init__(
        self, database: Database, start: Start, processes: int, *, notices: Notices, workers: Path, **options: Any
    ) -> None:
        WorkerSupervisor.__init__(self, database, start, processes, **options)
        self.notices, self._workers = notices, workers

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        self.notices.listen(self._heed)
        super().run(slots)

    def grades(self) -> bool:
        """Return whether this service goes on; while the processes here are replaced, other machines may grade."""
        return not self._leaving.is_set()

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        try:
            return super().drain(seconds)
        finally:
            self.notices.close()

    def _answers_for(self, worker: str) -> bool:
        return worker.partition("/")[2] == machine_in(self._workers)


class SharedTryouts:
    """Has tryouts stored in the database, run by whatever machine grades, and fetched; may be called from any thread.

    A notice says that one is done. It may get lost, so whoever waits looks into the table each second.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(MOST, "shared tryouts")
        self._changed = threading.Condition()
        self._news, self._closed = 0, False

    def try_out(self, request: TryoutRequest) -> Future[str]:
        """Return what will be the answer; see `Tryouts`."""
        return self._threads.submit(self._run, request)

    def look(self) -> None:
        """Look now whether something is done."""
        with self._changed:
            self._news += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._closed = True
        self.look()

    def _run(self, request: TryoutRequest) -> str:
        row, id, news, end = TryoutRow, secrets.token_hex(16), self._news, time.monotonic() + PATIENCE_SECONDS
        done = delete(row).where(row.id == id, row.outcome.is_not(None)).returning(row.outcome)
        with self._database.write() as session:
            asked, now = json.dumps(asdict(request)), server_time(session, time.time)
            old = row.created < now - 2 * PATIENCE_SECONDS  # whoever asked is gone by now
            session.execute(delete(row).where(old))
            session.execute(insert(row).values(id=id, asked=asked, created=now))
            defer(session, TRYOUTS, tryout=id)
        while time.monotonic() < end and not self._closed:
            with self._changed:
                self._changed.wait_for(lambda before=news: self._news != before, LOOK_SECONDS)  # type: ignore[misc]
                news = self._news
            with suppress(StoreUnavailable), self._database.write() as session:
                if outcome := session.scalar(done):
                    return TryoutOutcome(**json.loads(outcome)).answer()
        with self._database.write() as session:
            session.execute(delete(row).where(row.id == id))
        raise GraderFault("the pages end" if self._closed else "no machine that grades has answered")


def answer(database: Database, tryouts: Tryouts, id: str) -> None:
    """Run one of those tryouts here, and store what came of it; blocks until then."""
    row = TryoutRow
    with database.read() as session:
        asked = session.scalar(select(row.asked).where(row.id == id, row.outcome.is_(None)))
    if asked is None:
        return  # whoever asked waits no longer
    outcome = TryoutOutcome.of(tryouts.try_out(TryoutRequest(**json.loads(asked))))
    with database.write() as session:
        session.execute(update(row).where(row.id == id).values(outcome=json.dumps(asdict(outcome))))
