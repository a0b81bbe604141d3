"""Slows down whoever guesses: a token bucket per key, in memory."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
        number = _wait([(at, 1.0) for at, _ in known], 1.0, now, burst=self.number, refill=self.refill)
        kib = [(at, size / 1024) for at, size in known]
        wait = max(number, _wait(kib, length / 1024, now, burst=self.kib, refill=self.kib_refill))
        if wait > 0:
            raise NotAllowed(f"That was a lot in a short time. Please wait {math.ceil(wait)} seconds and try again.")


def _wait(taken: Iterable[tuple[float, float]], amount: float, now: float, *, burst: int, refill: float) -> float:
    """Return the seconds until a bucket that these were taken from holds `amount` again."""
    missing, since = 0.0, now
    for at, one in taken:
        missing, since = max(0.0, missing - max(0.0, at - since) / refill) + one, at
    missing = max(0.0, missing - max(0.0, now - since) / refill)
    return max(0.0, missing - max(burst - amount, 0.0)) * refill
