"""What is going on in this process right now: the steps of each grading, and who is watching a submission on its way.

Nothing here is stored; a watcher of another process's grading sees its states, not its steps.
"""

from __future__ import annotations

import asyncio
import logging
import math
import statistics
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from grader.errors import logged_for
from grader.jobs import claims
from grader.jobs.queue import Cancelled, GradingSteps, Tracker
from grader.store import submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import State, SubmissionId, Watch

LOG = logging.getLogger(__name__)
RECENT = 50  # gradings whose median length foretells the next one's
CALM = 0.2  # seconds; one who only waits looks at most this often whether the queue has moved
LOOKS = 25  # a second, of all who only wait together: the page must stay quick when a whole class does
LOOK_SECONDS = 1.0  # the safety net: another process may be grading, and cannot wake us


@dataclass(frozen=True, eq=False, slots=True)
class Subscriber:
    """One watcher: an event of its loop, to be set from any thread."""

    id: SubmissionId
    loop: asyncio.AbstractEventLoop
    event: asyncio.Event

    def wake(self) -> None:
        """Wake the watcher."""
        try:
            self.loop.call_soon_threadsafe(self.event.set)
        except RuntimeError:
            pass  # its loop is closed: nobody listens any more


class Live:
    """The trackers and the watchers of this process; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trackers: dict[SubmissionId, Tracker] = {}
        self._far: dict[SubmissionId, GradingSteps] = {}  # of gradings in other processes
        self._subscribers: set[Subscriber] = set()
        self._lengths: deque[float] = deque(maxlen=RECENT)
        self.slots = 1  # how many gradings this process runs at once

    @contextmanager
    def grading(self, id: SubmissionId) -> Iterator[Tracker]:
        """Track a grading for the length of the block."""
        tracker, start = Tracker(lambda: self.changed(id)), time.monotonic()
        with self._lock:
            self._trackers[id] = tracker
        try:
            yield tracker
        finally:
            with self._lock:
                # A second try may have taken the place already, after this one was cancelled or released.
                if self._trackers.get(id) is tracker:
                    del self._trackers[id]
            if not tracker.cancel.cancelled:
                self.took(time.monotonic() - start)

    def took(self, seconds: float) -> None:
        """Note how long a grading took."""
        with self._lock:
            self._lengths.append(seconds)

    def eta(self, ahead: int) -> int | None:
        """Return in about how many seconds one with `ahead` before it in the queue will have its report.

        The slots are taken for busy, so each of them comes free once per median grading. None before the first grading
        of this process: there is nothing to go by.
        """
        with self._lock:
            if not self._lengths:
                return None
            typical = statistics.median(self._lengths)
        return math.ceil(typical * ((ahead + 1) / max(self.slots, 1) + 1))

    @property
    def pace(self) -> float:
        """In how many seconds one who waits should look again: seldom when many wait."""
        return max(CALM, len(self._subscribers) / LOOKS)

    def steps(self, id: SubmissionId) -> GradingSteps:
        """Return how far a grading is."""
        with self._lock:
            tracker = self._trackers.get(id)
            return tracker.steps if tracker else self._far.get(id, GradingSteps())

    def running(self, id: SubmissionId) -> bool:
        """Tell whether it is being graded in this process."""
        return id in self._trackers

    def advance(self, id: SubmissionId, steps: GradingSteps) -> None:
        """Note how far a grading in another process is."""
        with self._lock:
            self._far[id] = steps
        self.changed(id)

    def interrupt(self, id: SubmissionId) -> None:
        """End a grading under way."""
        with self._lock:
            tracker = self._trackers.get(id)
        if tracker:
            tracker.cancel.cancel(Cancelled(f"submission {id} was cancelled while it was being graded"))

    def changed(self, id: SubmissionId) -> None:
        """Wake those who watch this submission."""
        with self._lock:
            subscribers = [subscriber for subscriber in self._subscribers if subscriber.id == id]
        for subscriber in subscribers:
            subscriber.wake()

    def moved(self, id: SubmissionId) -> None:
        """Say that this submission entered, left or ended its wait."""
        with self._lock:
            self._far.pop(id, None)
        self.changed(id)

    @contextmanager
    def listening(self, id: SubmissionId) -> Iterator[asyncio.Event]:
        """Give an event of the running loop that is set whenever the submission may have changed."""
        subscriber = Subscriber(id, asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._subscribers.add(subscriber)
        try:
            yield subscriber.event
        finally:
            with self._lock:
                self._subscribers.discard(subscriber)


class Watching:
    """Turns what is stored and what is live into `Watch` values."""

    def __init__(self, database: Database, live: Live, *, clock: Callable[[], float] = time.time) -> None:
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
