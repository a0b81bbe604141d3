"""Who is asking how much: requests in a while and at once, and runs followed at once.

Everything here runs on the event loop, and takes no lock.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from grader.errors import NotAllowed
from grader.pages.refusal import Refusal
from grader.service.limits import Buckets, household

THREADS = 6  # for what blocks; more would only take turns at Python, and keep the loop from its own
EACH_AT_ONCE = THREADS // 2  # requests of one member, or of all who are in no class at one address
EACH_HELD, MOST_HELD = 16 << 20, 128 << 20  # bytes of bodies that have come, of a member or a household, and of all
BODY_BYTES = 16 << 10  # of a body count as one request: to read half a megabyte takes milliseconds of everybody's
MOST_WATCHED = 8  # runs that one person follows at once; each is an open connection as long as it lasts


@dataclass(frozen=True, slots=True)
class RequestQuota:
    """What one member, or all guests at one address, may ask for: requests at once, and seconds for one more."""

    burst: int
    refill: float


PERSON = RequestQuota(burst=400, refill=0.04)
GUESTS = RequestQuota(burst=4000, refill=0.01)  # a whole class may sit behind one address


@dataclass(frozen=True, slots=True)
class Who:
    """Who is asking: a member of the class, or a guest at an address, which is everybody else; `user` is a member's."""

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


@dataclass(slots=True)
class Room:
    """Where the requests of a person, or of all guests at one address, wait for each other."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EACH_AT_ONCE))
    users: int = 0


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
        self._held: Counter[str] = Counter()
        self._all_held = 0
        self._places: dict[str, Room] = {}
        self._pace = {share: Buckets(share.burst, share.refill, clock=clock) for share in (PERSON, GUESTS)}

    def admit(self, who: Who, amount: float = 1.0) -> None:
        """Count a request, or a body as so many of them.

        Raises:
            Refusal: there were too many in a short time.
        """
        if self._pace[who.share].take(who.key, amount) > 0:
            raise Refusal(429, "Too many requests in a short time. Please wait a moment and try again.")

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """Wait until no more than `EACH_AT_ONCE` requests of theirs are worked on; the other threads are for others.

        Whatever else the loop has to do is done before: however many of theirs come at once, so few are between two
        steps of somebody else's.
        """
        place = self._places.setdefault(key, Room())
        place.users += 1
        try:
            async with place.free:
                await asyncio.sleep(0)
                yield
        finally:
            place.users -= 1
            if not place.users:
                del self._places[key]

    @contextmanager
    def holding(self, who: Who) -> Iterator[Callable[[int], None]]:
        """Give what counts the bytes of a body as they come, up to the end of the block.

        A body may take its time, and each connection can have one under way: together they are more than the memory.

        Raises:
            Refusal: by what it gives, if they are too many.
        """
        held = 0

        def hold(size: int) -> None:
            nonlocal held
            if self._held[who.key] + size > EACH_HELD or self._all_held + size > MOST_HELD:
                raise Refusal(503, "Too much is being sent at the moment. Please try again in a moment.")
            held += size
            self._held[who.key] += size
            self._all_held += size

        try:
            yield hold
        finally:
            self._all_held -= held
            self._held[who.key] -= held
            self._held += Counter()  # drops those at zero

    @contextmanager
    def inside(self, network: str) -> Iterator[None]:
        """Count a request of a household up to the end of its answer; behind a proxy nobody counts its connections.

        Raises:
            Refusal: too many are being answered already.
        """
        if self._inside[network] >= self._at_once:
            raise Refusal(429, "Too many requests from your address are in progress. Please try again in a moment.")
        self._inside[network] += 1
        try:
            yield
        finally:
            self._inside[network] -= 1
            if not self._inside[network]:
                del self._inside[network]
