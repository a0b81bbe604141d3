"""Lets people watch a submission on its way without asking the database over and over."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from grader.errors import logged_for
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

    async def watch(self, id: SubmissionId) -> AsyncIterator[Watch]:
        """Yield at once and at each change, up to a final state; of the queue's moving on, only now and then.

        A database that is gone for a while is waited for.
        """
        last: Watch | None = None
        with self._live.listening(id) as event:
            while last is None or not last.over:
                event.clear()
                try:
                    seen = await asyncio.to_thread(self._look, id)
                except StoreUnavailable as fault:
                    _say_waiting(id, fault)
                    await _heard(event, LOOK_SECONDS)
                    continue
                if last is None or _is_news(seen, last):
                    last = seen
                    yield seen
                if not last.over:
                    await _heard(event, self._pause(last))

    def _pause(self, last: Watch) -> float:
        """Return in how many seconds to look again, if nothing is heard until then."""
        if last.state is State.QUEUED:
            return self._live.pace
        # When a class has its verdicts and waits for their causes, each look would read a whole report.
        return max(LOOK_SECONDS, self._live.pace) if last.state.final else LOOK_SECONDS

    def _look(self, id: SubmissionId) -> Watch:
        with self._database.read() as session:
            place = claims.place(session, id, now=self._clock())
            if place is not None:
                elapsed, eta = self._clock() - place.created, self._live.eta(place.ahead)
                return Watch(State.QUEUED, ahead=place.ahead, elapsed=elapsed, eta=eta, again=place.again)
            steps = self._live.steps(id)
            found = submissions.outcome(session, id)
        elapsed = (self._clock() if found.finished is None else found.finished) - found.created
        if not found.state.final:
            known = Watch(found.state, elapsed=elapsed, curve=steps.curve, exercise=found.exercise)
            return replace(known, step=steps.step, done=steps.done, total=steps.total)
        report = submissions.settled(found.report, found.finished, self._clock())
        return Watch(found.state, elapsed=elapsed, report=report, exercise=found.exercise, nth=found.nth)


def _say_waiting(id: SubmissionId, fault: StoreUnavailable) -> None:
    with logged_for(id):
        LOG.warning("a watcher of %s is kept waiting: %s", id, fault)


def _is_news(seen: Watch, last: Watch) -> bool:
    """Return whether somebody who was told `last` has to be told `seen`.

    Two results differ in whether the cause is known. Their reports are not compared: a NaN in one equals no other.
    """
    if last.state.final and seen.state.final:
        return seen.over != last.over
    return replace(seen, elapsed=last.elapsed) != last


async def _heard(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass  # look again
