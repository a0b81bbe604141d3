"""Who is asking how much: requests in a while, and runs followed at once.

Everything here runs on the event loop, and takes no lock.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grader.errors import NotAllowed
from grader.pages.refusal import Refusal
from grader.service.limits import Buckets, household

MOST_WATCHED = 8  # runs that one person follows at once; each is an open connection as long as it lasts


@dataclass(frozen=True, slots=True)
class RequestQuota:
    """What one person, or all guests at one address, may ask for: requests at once, and seconds for one more."""

    burst: int
    refill: float


PERSON = RequestQuota(burst=400, refill=0.04)
GUESTS = RequestQuota(burst=4000, refill=0.01)  # a whole class may sit behind one address


@dataclass(frozen=True, slots=True)
class Who:
    """Who is asking: a person, or a guest at an address."""

    user: int | None
    address: str

    @property
    def key(self) -> str:
        """Under which they are counted."""
        return f"guest {self.network}" if self.user is None else f"user {self.user}"

    @property
    def network(self) -> str:
        """The address, or, as one household has very many of them, the first half of a long one."""
        return household(self.address)

    @property
    def share(self) -> RequestQuota:
        """What they may use."""
        return GUESTS if self.user is None else PERSON


class StreamLimiter:
    """Counts who watches how many runs."""

    def __init__(self) -> None:
        """Start with nobody watching."""
        self._taken: dict[int, int] = {}

    @contextmanager
    def taken(self, user: int) -> Iterator[None]:
        """Count one for the length of the block.

        Raises:
            NotAllowed: they watch too many already.
        """
        taken = self._taken.get(user, 0)
        if taken >= MOST_WATCHED:
            raise NotAllowed("You have this page open in too many places at once; please close some of them.")
        self._taken[user] = taken + 1
        try:
            yield
        finally:
            self._taken[user] -= 1
            if not self._taken[user]:
                del self._taken[user]


class RequestLimiter:
    """Counts requests, and refuses those that are too many: in a while, and of one address at once."""

    def __init__(self, *, at_once: int = 2048, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nobody."""
        self._at_once = at_once
        self._inside: Counter[str] = Counter()
        self._pace = {share: Buckets(share.burst, share.refill, clock=clock) for share in (PERSON, GUESTS)}

    def admit(self, who: Who) -> None:
        """Count a request.

        Raises:
            Refusal: there were too many in a short time.
        """
        if self._pace[who.share].take(who.key) > 0:
            raise Refusal(429, "Too many requests in a short time. Please wait a moment and try again.")

    @contextmanager
    def inside(self, address: str) -> Iterator[None]:
        """Count a request of an address up to the end of its answer; behind a proxy nobody counts its connections.

        Raises:
            Refusal: too many are being answered already.
        """
        network = Who(None, address).network
        if self._inside[network] >= self._at_once:
            raise Refusal(429, "Too many requests from your address are in progress. Please try again in a moment.")
        self._inside[network] += 1
        try:
            yield
        finally:
            self._inside[network] -= 1
            if not self._inside[network]:
                del self._inside[network]
