"""Slows down whoever guesses: a token bucket per key, in memory."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from ipaddress import ip_address, ip_network

from grader.errors import NotAllowed

CROWD = 10_000  # keys; more, and the full buckets are thrown away


class Buckets:
    """Lets each key do something `burst` times at once, and once more every `refill` seconds."""

    def __init__(self, burst: int, refill: float, *, clock: Callable[[], float]) -> None:
        """Start with every bucket full."""
        self._burst = burst
        self._refill = refill
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[str, tuple[float, float]] = {}  # tokens missing, and when that was so

    def take(self, key: str, amount: float = 1.0) -> float:
        """Take tokens; return 0, or, if there are too few, the seconds until there are enough.

        More than a bucket holds may be taken from a full one, which then stays empty for as much longer.
        """
        with self._lock:
            missing = self._missing(key)
            if missing > max(self._burst - amount, 0.0):
                return (missing - max(self._burst - amount, 0.0)) * self._refill
            self._forget_full()
            self._spent[key] = (missing + amount, self._clock())
            return 0.0

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self._lock:
            return max(0.0, self._missing(key) - (self._burst - 1)) * self._refill

    def give(self, key: str) -> None:
        """Give a token back."""
        with self._lock:
            self._spent[key] = (max(0.0, self._missing(key) - 1), self._clock())

    def _missing(self, key: str) -> float:
        missing, since = self._spent.get(key, (0.0, 0.0))
        elapsed = max(0.0, self._clock() - since)  # a clock that is set back must not add to what is missing
        return max(0.0, missing - elapsed / self._refill)

    def _forget_full(self) -> None:
        if len(self._spent) > CROWD:
            self._spent = {key: spent for key, spent in self._spent.items() if self._missing(key) > 0}


def household(address: str) -> str:
    """Return an address, or of a long one its first half: whoever has one IPv6 address has all of that network."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ip_network((parsed, 64), strict=False))


class SubmitLimit:
    """Keeps one person from filling the disk and the queue; nobody notices who reads what the grader says."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start with nobody slowed down."""
        self._number = Buckets(120, 3.0, clock=clock)  # every exercise three times over, then 20 a minute
        self._kib = Buckets(8192, 0.5, clock=clock)

    def submit(self, user: int, length: int) -> None:
        """Count a submission of `length` bytes.

        Raises:
            NotAllowed: there were too many, or too long ones.
        """
        wait = self._number.take(str(user)) or self._kib.take(str(user), length / 1024)
        if wait > 0:
            raise NotAllowed(f"That was a lot in a short time. Please wait {math.ceil(wait)} seconds and try again.")
