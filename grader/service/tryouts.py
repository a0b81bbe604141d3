"""Who may try what, and how much: in a while by one person or address, and at once by one person and by everybody.

A tryout takes time of the processes that grade. Whoever is in no class costs nothing to make, so all of them together
leave half of the room to others.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass

from grader.errors import NotAllowed
from grader.jobs.tryouts import BUSY, LONGEST_SOURCE, MOST_WAITING, TryoutRequest, Tryouts
from grader.service.limits import MakeLimiter, household
from grader.service.rate_limits import refuse
from grader.store.records import Role, User

ONE_AT_A_TIME = "Your last try is still running. Please wait until it is done."
OUTSIDE = "everybody outside of a class"


class TryoutLimits:
    """Counts tryouts.

    Args:
        slots: how many submissions are graded at once.
        limiter: makes the limits on how often somebody may try.
    """

    def __init__(self, slots: int, limiter: MakeLimiter) -> None:
        """Start with none under way."""
        self._persons = limiter("tries", 30, 2.0)
        self._addresses = limiter("tries of guests", 300, 0.5)  # a whole lecture hall may sit behind one
        self._most = max(slots, 1) * MOST_WAITING
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def take(self, user: User | None, address: str) -> ExitStack:
        """Count a tryout that begins; closing what is returned says that it is over.

        Args:
            user: whose it is; None for somebody who is not signed in.
            address: where they are.

        Raises:
            NotAllowed: there are too many.
        """
        inside = user is not None and user.role is not Role.LEARNER
        who = f"guest {household(address)}" if user is None else f"user {user.id}"
        # Guests of one address are many people, and share its tries; they have no turn of their own.
        counted = [name for name in (who if user else "", "" if inside else OUTSIDE, "all") if name]
        with self._lock:
            self._check(counted)
            refuse(self._addresses.take(who) if user is None else self._persons.take(who), "tries in a short time")
            self._running.update(counted)
        done = ExitStack()
        done.callback(self._release, counted)
        return done

    def _check(self, counted: list[str]) -> None:
        most = {"all": self._most, OUTSIDE: max(self._most // 2, 1)}
        for name in counted:
            if self._running[name] >= most.get(name, 1):
                raise NotAllowed(BUSY if name in most else ONE_AT_A_TIME)

    def _release(self, counted: list[str]) -> None:
        with self._lock:
            self._running.subtract(counted)
            self._running += Counter()  # drops those at zero


@dataclass(frozen=True, slots=True)
class TryoutService:
    """Passes tryouts on that are in order.

    Attributes:
        exercises: the names that there are.
        tryouts: runs them.
        limits: counts them.
    """

    exercises: Collection[str]
    tryouts: Tryouts
    limits: TryoutLimits

    def run(self, user: User | None, address: str, request: TryoutRequest) -> Future[str]:
        """Return what will come of an answer on one example, as JSON; nothing is stored or counted as an attempt.

        Whoever is not signed in may do so as well, and is counted by their address.

        Raises:
            NotAllowed: there is no such exercise, the source is too long, or there are too many tryouts.
        """
        if request.exercise not in self.exercises:
            raise NotAllowed(f"There is no exercise called {request.exercise[:64]!r}.")
        if len(request.source) > LONGEST_SOURCE:
            raise NotAllowed(f"To be tried, code may have at most {LONGEST_SOURCE} characters. Run the checks instead.")
        taken = self.limits.take(user, address)
        future = self.tryouts.try_out(request)
        future.add_done_callback(lambda _: taken.close())
        return future
