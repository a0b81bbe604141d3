"""Lets people watch a submission on its way without asking the database over and over."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from grader.jobs import claims
from grader.jobs.live import Live
from grader.store import submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import State, SubmissionId, Watch

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 1.0  # the safety net: another process may be grading, and cannot wake us


class Watching:
    """Turns what is stored and what is live into `Watch` values."""

    def __init__(self, database: Database, live: Live, *, clock: Callable[[], float] = time.time) -> None:
        """Watch the submissions of `database`."""
        self._database = database
        self._live = live
        self._clock = clock
        self._lock = threading.Lock()
        self._positions: dict[SubmissionId, int] = {}
        self._turn = -1
        self._read = 0.0

    async def watch(self, id: SubmissionId) -> AsyncIterator[Watch]:
        """Yield at once and then at each change, up to a final state; waits for a database that is gone for a while.

        Raises:
            StoreUnavailable: it is gone already at the beginning.
        """
        last: Watch | None = None
        with self._database.read() as session:
            created = submissions.created(session, id)
        with self._live.listening(id) as event:
            while last is None or not last.state.final:
                event.clear()
                try:
                    seen = await asyncio.to_thread(self._look, id, created)
                except StoreUnavailable as fault:
                    LOG.warning("a watcher of %s is kept waiting: %s", id, fault)
                    await _heard(event)
                    continue
                if last is None or replace(seen, elapsed=last.elapsed) != last:
                    last = seen
                    yield seen
                if not last.state.final:
                    await _heard(event)

    def _look(self, id: SubmissionId, created: float) -> Watch:
        ahead = self._ahead(id)
        if ahead is not None:
            return Watch(State.QUEUED, ahead=ahead, elapsed=self._clock() - created, eta=self._live.eta(ahead))
        steps = self._live.steps(id)
        with self._database.read() as session:
            state, finished, report = submissions.outcome(session, id)
        end = self._clock() if finished is None else finished
        elapsed = end - created
        return Watch(state, 0, steps.step, steps.done, steps.total, elapsed=elapsed, report=report, curve=steps.curve)

    def _ahead(self, id: SubmissionId) -> int | None:
        with self._lock:
            turn, now = self._live.turn, time.monotonic()
            if turn != self._turn or now - self._read > LOOK_SECONDS:
                with self._database.read() as session:
                    self._positions = claims.positions(session)
                self._turn, self._read = turn, now
            return self._positions.get(id)


async def _heard(event: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            await event.wait()
    except TimeoutError:
        pass  # look again
