"""Who may try what, and whose turn it is: seconds are what is counted, since one try costs a thousand times another.

A tryout takes time of the processes that grade, and only so many run at once. Of those that wait, the next one is of
whoever has used the fewest seconds lately; so one who tries without pause stands behind each newcomer. Whoever is in no
class costs nothing to make: visitors and guests of one address count as one, and all of them together take turns with
all members.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from grader.errors import NotAllowed
from grader.jobs.shares import is_outside
from grader.jobs.tryouts import BUSY, LONGEST_SOURCE, MOST_WAITING, TryoutRequest, Tryouts
from grader.service.limits import Buckets, MakeLimiter, payer, refuse
from grader.store.engine import StoreUnavailable
from grader.store.records import User

ONE_AT_A_TIME = "Your last try is still running. Please wait until it is done."
LEAST_SECONDS = 0.25  # that a try counts for, however short it is
OUTSIDE, INSIDE = "everybody outside of a class", "the class"


@dataclass(slots=True)
class Line:
    """The tryouts of one person or household that wait, and how many of theirs run."""

    outside: bool
    waiting: deque[WaitingTry] = field(default_factory=deque)
    running: int = 0


@dataclass(frozen=True, slots=True)
class WaitingTry:
    """One that waits; `payer` is whose it is, `person` the one of them where somebody is signed in."""

    request: TryoutRequest
    payer: str
    person: int | None
    answer: Future[str] = field(default_factory=Future)


class TryoutService:
    """Passes tryouts on that are in order, when it is their turn.

    As many are run at once as submissions are graded at once, which `slots` says. `limiter` makes the limits on how
    many seconds somebody may use in a while.
    """

    def __init__(
        self, exercises: Collection[str], tryouts: Tryouts, slots: Callable[[], int], limiter: MakeLimiter, *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._exercises, self._tryouts, self._clock = exercises, tryouts, clock
        self._members = limiter("seconds of tries", 60, 2.0)
        self._homes = limiter("seconds of tries of those outside", 240, 1.0)  # a lecture hall may sit behind an address
        self._lately = Buckets(1, 2.0, clock=clock)  # what each has used lately, to find whose turn it is
        self._slots = slots
        self._lock = threading.Lock()
        self._lines: dict[str, Line] = {}
        self._persons: Counter[int] = Counter()
        self._running = 0

    def run(self, user: User | None, address: str, request: TryoutRequest) -> Future[str]:
        """Return what will come of an answer on one example, as JSON; nothing is stored or counted as an attempt.

        Whoever is not signed in may do so as well, and is counted by their address.

        Raises:
            NotAllowed: there is no such exercise, the source is too long, or there are too many tryouts.
        """
        if request.exercise not in self._exercises:
            raise NotAllowed(f"There is no exercise called {request.exercise[:64]!r}.")
        if len(request.source) > LONGEST_SOURCE:
            raise NotAllowed(f"To be tried, code may have at most {LONGEST_SOURCE} characters. Run the checks instead.")
        key = payer(user, address)
        outside = is_outside(key)
        refuse((self._homes if outside else self._members).wait(key), "seconds were used for tries lately")
        tryout = WaitingTry(request, key, user.id if user else None)
        with self._lock:
            late = self._put(tryout, outside=outside)
        if late and late.answer.set_running_or_notify_cancel():
            late.answer.set_exception(NotAllowed(BUSY))
        self._begin()
        return tryout.answer

    def _put(self, tryout: WaitingTry, *, outside: bool) -> WaitingTry | None:
        """Let a tryout wait; return the one that gives way to it where there is no room, the last of the longest line.

        Those outside have as much room as the class.
        """
        if tryout.person is not None and self._persons[tryout.person]:
            raise NotAllowed(ONE_AT_A_TIME)
        line = self._lines.get(tryout.payer) or Line(outside)
        late = None
        alike = [one for one in self._lines.values() if one.outside == outside]
        if sum(len(one.waiting) for one in alike) >= max(self._slots(), 1) * MOST_WAITING:
            longest = max(alike, key=lambda one: len(one.waiting))
            if len(longest.waiting) <= len(line.waiting) + 1:
                raise NotAllowed(BUSY)
            late = longest.waiting.pop()
            self._forget(late)
        self._lines[tryout.payer] = line
        line.waiting.append(tryout)
        self._persons.update([tryout.person] if tryout.person is not None else [])
        return late

    def _begin(self) -> None:
        """Run those whose turn it is, as long as there is room."""
        while True:
            with self._lock:
                tryout = self._next()
                if tryout is None:
                    return
                if not tryout.answer.set_running_or_notify_cancel():
                    self._forget(tryout)
                    continue
                self._running += 1
                self._lines[tryout.payer].running += 1
            self._run(tryout)

    def _next(self) -> WaitingTry | None:
        slots = max(self._slots(), 1)
        each = max(slots // 2, 1)  # that run at once of one line: the others are for others
        able = {key: one for key, one in self._lines.items() if one.waiting and one.running < each}
        if not able or self._running >= slots:
            return None
        used = self._lately.missing
        first = min(able, key=lambda key: (used(OUTSIDE if able[key].outside else INSIDE), used(key)))
        return able[first].waiting.popleft()

    def _run(self, tryout: WaitingTry) -> None:
        begun = self._clock()

        def done(inner: Future[str]) -> None:
            self._charge(tryout, max(self._clock() - begun, LEAST_SECONDS))
            fault = inner.exception()
            if fault is None:
                tryout.answer.set_result(inner.result())
            else:
                tryout.answer.set_exception(fault)
            self._begin()

        self._tryouts.try_out(tryout.request).add_done_callback(done)

    def _charge(self, tryout: WaitingTry, seconds: float) -> None:
        with self._lock:
            line = self._lines[tryout.payer]
            line.running -= 1
            self._running -= 1
            self._forget(tryout)
            self._lately.charge(tryout.payer, seconds)
            self._lately.charge(OUTSIDE if line.outside else INSIDE, seconds)
        with suppress(StoreUnavailable):  # one that is not counted costs less than an answer that is lost
            (self._homes if line.outside else self._members).charge(tryout.payer, seconds)

    def _forget(self, tryout: WaitingTry) -> None:
        """Count a tryout that has ended no longer."""
        if tryout.person is not None:
            self._persons[tryout.person] -= 1
            self._persons += Counter()  # drops those at zero
        line = self._lines[tryout.payer]
        if not line.waiting and not line.running:
            del self._lines[tryout.payer]
