"""Slows down whoever guesses: a token bucket per key."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from grader.errors import NotAllowed
from grader.store.tokens import FULL, Spent

CROWD = 10_000  # keys; more, and the full buckets are thrown away


@dataclass(frozen=True, slots=True)
class Rate:
    """What a bucket holds, and how many seconds one token more takes."""

    burst: int
    refill: float

    def missing(self, spent: Spent, now: float) -> float:
        """Return how many tokens are missing now; a clock that is set back must not add to them."""
        return max(0.0, spent.missing - max(0.0, now - spent.since) / self.refill)

    def wait(self, spent: Spent, now: float, amount: float = 1.0) -> float:
        """Return the seconds until so many tokens can be taken; more than a bucket holds are taken from a full one."""
        return max(0.0, self.missing(spent, now) - max(self.burst - amount, 0.0)) * self.refill


class Limiter(Protocol):
    """Lets each key do something so many times at once, and once more every so many seconds."""

    def take(self, key: str) -> float:
        """Take a token; return 0, or, if there is none, the seconds until there is one."""
        ...

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        ...

    def give(self, key: str) -> None:
        """Give a token back."""
        ...


MakeLimiter = Callable[[str, int, float], Limiter]  # by the name of what is counted, the burst and the refill


class Buckets:
    """Lets each key do something `burst` times at once, and once more every `refill` seconds, in this process."""

    def __init__(self, burst: int, refill: float, *, clock: Callable[[], float]) -> None:
        """Start with every bucket full."""
        self._rate = Rate(burst, refill)
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[str, Spent] = {}

    def take(self, key: str, amount: float = 1.0) -> float:
        """Take tokens; return 0, or, if there are too few, the seconds until there are enough.

        More than a bucket holds may be taken from a full one, which then stays empty for as much longer.
        """
        with self._lock:
            before, now = self._spent.get(key, FULL), self._clock()
            if (wait := self._rate.wait(before, now, amount)) == 0:
                self._forget_full(now)
                self._spent[key] = Spent(self._rate.missing(before, now) + amount, now)
            return wait

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self._lock:
            return self._rate.wait(self._spent.get(key, FULL), self._clock())

    def give(self, key: str) -> None:
        """Give a token back."""
        with self._lock:
            before, now = self._spent.get(key, FULL), self._clock()
            self._spent[key] = Spent(max(0.0, self._rate.missing(before, now) - 1), now)

    def _forget_full(self, now: float) -> None:
        if len(self._spent) > CROWD:
            self._spent = {key: one for key, one in self._spent.items() if self._rate.missing(one, now) > 0}


def in_memory(clock: Callable[[], float]) -> MakeLimiter:
    """Return how limits are made that this process keeps for itself."""
    return lambda _name, burst, refill: Buckets(burst, refill, clock=clock)


def household(address: str) -> str:
    """Return an address, or of a long one its first half: whoever has one IPv6 address has all of that network."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ip_network((parsed, 64), strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Keeps one person from filling the disk and the queue; nobody notices who reads what the grader says.

    It is worked out from what is stored, so that it is the same whichever process takes the next submission.

    Attributes:
        number: how many submissions may come at once.
        refill: seconds for one more.
        kib: how long they may be together, in KiB.
        kib_refill: seconds for one KiB more.
    """

    number: int = 120  # every exercise three times over, then 20 a minute
    refill: float = 3.0
    kib: int = 8192
    kib_refill: float = 0.5

    @property
    def memory(self) -> float:
        """For how many seconds a submission counts."""
        return max(self.number * self.refill, self.kib * self.kib_refill)

    def check(self, before: Iterable[tuple[float, int]], length: int, now: float) -> None:
        """Let a submission of `length` bytes pass.

        Args:
            before: when each of the person's submissions within `memory` was stored, in order, and its bytes.
            length: bytes.
            now: seconds since the epoch.

        Raises:
            NotAllowed: there were too many, or too long ones.
        """
        known = list(before)
        number = _wait([(at, 1.0) for at, _ in known], 1.0, now, Rate(self.number, self.refill))
        kib = [(at, size / 1024) for at, size in known]
        wait = max(number, _wait(kib, length / 1024, now, Rate(self.kib, self.kib_refill)))
        if wait > 0:
            raise NotAllowed(f"That was a lot in a short time. Please wait {math.ceil(wait)} seconds and try again.")


def _wait(taken: Iterable[tuple[float, float]], amount: float, now: float, rate: Rate) -> float:
    """Return the seconds until a bucket that these were taken from holds `amount` again."""
    spent = FULL
    for at, one in taken:
        spent = Spent(rate.missing(spent, at) + one, at)
    return rate.wait(spent, now, amount)
