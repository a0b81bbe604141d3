"""Who is asking how much: requests in a while and at once, runs followed at once, and passwords hashed in a fair queue.

What counts here runs on the event loop, and takes no lock.

A hash keeps a core busy on purpose, so whoever signs in without pause makes a queue. Those who are known already stand
in a part of it of their own: a browser that was signed in before, and whoever types the right class code. Of both parts
in turn the next one is taken, and within a part of each address, or person, in turn. So neither somebody with many
tries nor somebody with many addresses keeps the class out. Whoever has gone meanwhile is not hashed for.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from anyio import to_thread
from fastapi import Request
from fastapi.responses import Response

from grader.errors import NotAllowed
from grader.pages.plain import RETRY_SECONDS, Refusal
from grader.service.limits import Buckets, household

THREADS = 6  # for what blocks; more would only take turns at Python, and keep the loop from its own
EACH_AT_ONCE = THREADS // 2  # requests of one member, or of all who are in no class at one address
BODY_BYTES = 16 << 10  # of a body count as one request: to read half a megabyte takes milliseconds of everybody's
MOST_WATCHED = 8  # runs that one person follows at once; each is an open connection as long as it lasts
TOO_MANY_AT_ONCE = "Too many requests from your address are in progress. Please try again in a moment."
TOO_MANY_PLACES = "You have this page open in too many places at once; please close some of them."


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


class AtOnce:
    """Counts what each has under way: called with whose it is, for the length of a `with` block."""

    def __init__(self, most: int, refusal: Callable[[], Exception]) -> None:
        """Raise a `refusal` in place of more than `most` of one."""
        self._most, self._refusal = most, refusal
        self._taken: Counter[str | int] = Counter()

    @contextmanager
    def __call__(self, key: str | int) -> Iterator[None]:
        """Count one up to the end of the block."""
        if self._taken[key] >= self._most:
            raise self._refusal()
        self._taken[key] += 1
        try:
            yield
        finally:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]


def watched_runs() -> AtOnce:
    """Return what counts who watches how many runs."""
    return AtOnce(MOST_WATCHED, lambda: NotAllowed(TOO_MANY_PLACES))


class RequestLimiter:
    """Counts requests, and refuses those that are too many in a while; lets those of one sender take turns.

    Attributes:
        inside: counts the requests of a household up to the end of their answers; behind a proxy nobody counts its
            connections.
    """

    def __init__(self, *, at_once: int = 2048, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nobody."""
        self.inside = AtOnce(at_once, lambda: Refusal(429, TOO_MANY_AT_ONCE))
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


NICENESS = 5  # as grading has
MOST = 1024  # waiting in each part
EACH = 400  # strangers of one address: a class of 300 that signs in at once is through in some 15 seconds
EACH_KNOWN = 400  # with the right class code, of one address
EACH_PERSON = 4  # under one name, of browsers in which it was signed in

Result = TypeVar("Result")
Waiting = asyncio.Future[None]


class Busy(Exception):
    """There are too many waiting already."""


class Gone(Exception):
    """Whoever asked has not waited."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Who waits.

    Attributes:
        key: the address, or the person, whom they take turns with others as.
        known: whether we know something of them that a stranger does not have.
        each: how many may wait under that key.
    """

    key: str = field(repr=False)
    known: bool = False
    each: int = EACH


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer that takes a hash: who waits for it, what makes it, and what they get where too many wait already."""

    guest: Guest
    do: Callable[[], Response]
    busy: Callable[[], Response]


@dataclass(slots=True)
class WaitingPart:
    """One part of the queue: who waits, by key, the next key first."""

    lines: dict[str, deque[Waiting]] = field(default_factory=dict)
    count: int = 0

    def add(self, guest: Guest, most: int) -> Waiting:
        """Let somebody wait; where there is no room, the last one of the longest line gives way, if it is not theirs.

        Raises:
            Busy: there is no room.
        """
        own = len(self.lines.get(guest.key, ()))
        if own >= guest.each:
            raise Busy
        if self.count >= most:
            longest = max(self.lines, key=lambda key: len(self.lines[key]))
            if len(self.lines[longest]) <= own + 1:
                raise Busy
            last = self._take(longest, last=True)
            if not last.done():
                last.set_exception(Busy())
        waiting: Waiting = asyncio.get_running_loop().create_future()
        self.lines.setdefault(guest.key, deque()).append(waiting)
        self.count += 1
        return waiting

    def next(self) -> Waiting:
        """Return who is next, and put their line behind the others."""
        key = next(iter(self.lines))
        waiting = self._take(key, last=False)
        if key in self.lines:
            self.lines[key] = self.lines.pop(key)
        return waiting

    def _take(self, key: str, *, last: bool) -> Waiting:
        line = self.lines[key]
        waiting = line.pop() if last else line.popleft()
        self.count -= 1
        if not line:
            del self.lines[key]
        return waiting


class Passwords:
    """Does what hashes a password; everything but the hashing happens on the event loop."""

    def __init__(self, *, most: int = MOST) -> None:
        """Let `most` wait at once in each part."""
        self._thread = ThreadPoolExecutor(1, "passwords", initializer=_step_back)
        self._most = most
        self._limiter = RequestLimiter()
        self._parts = {True: WaitingPart(), False: WaitingPart()}  # by whether they are known
        self._busy = False
        self._turn = True  # which part is next

    async def answered(self, request: Request, begin: Callable[[], Response | Slow]) -> Response:
        """Return what `begin` returns, or what is slow of it once it is its turn.

        All of it asks the store, so none of it runs on the loop; `begin` takes turns by address, for the threads' sake.
        """
        address = request.client.host if request.client else ""
        async with self._limiter.turn(household(address)):
            begun = await to_thread.run_sync(begin)
        if isinstance(begun, Response):
            return begun
        try:
            return await self.run(begun.guest, begun.do, request.is_disconnected)
        except Gone:
            return Response(status_code=503)  # nobody reads it
        except Busy:
            response = await to_thread.run_sync(begun.busy)
            response.headers["Retry-After"] = RETRY_SECONDS
            return response

    async def run(self, guest: Guest, do: Callable[[], Result], gone: Callable[[], Awaitable[bool]]) -> Result:
        """Return what `do` returns, once it is its turn.

        Args:
            guest: who waits.
            do: runs in a thread of its own.
            gone: tells, at their turn, whether nobody waits for the answer any more.

        Raises:
            Busy: too many are waiting, of theirs or in all.
            Gone: nobody waits for the answer.
        """
        await self._wait(guest)
        try:
            if await gone():
                raise Gone
            return await asyncio.get_running_loop().run_in_executor(self._thread, do)
        finally:
            self._pass_on()

    async def _wait(self, guest: Guest) -> None:
        if not self._busy:
            self._busy = True
            return
        waiting = self._parts[guest.known].add(guest, self._most)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._pass_on()  # it was their turn already
            raise

    def _pass_on(self) -> None:
        """Let the next one go, of both parts in turn; one that was cancelled meanwhile is left out."""
        while any(part.count for part in self._parts.values()):
            wanted = self._parts[self._turn]
            self._turn = not self._turn
            if wanted.count and not (waiting := wanted.next()).done():
                waiting.set_result(None)
                return
        self._busy = False


def _step_back() -> None:
    """Let this thread, and no other one of the process, come after the pages."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
