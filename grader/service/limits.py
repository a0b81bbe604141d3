"""Slows down whoever guesses: a token bucket per key, in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

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

    def take(self, key: str) -> float:
        """Take a token; return 0, or, if there is none, the seconds until there is."""
        with self._lock:
            missing = self._missing(key)
            if missing > self._burst - 1:
                return (missing - self._burst + 1) * self._refill
            self._forget_full()
            self._spent[key] = (missing + 1, self._clock())
            return 0.0

    def give(self, key: str) -> None:
        """Give a token back."""
        with self._lock:
            self._spent[key] = (max(0.0, self._missing(key) - 1), self._clock())

    def _missing(self, key: str) -> float:
        missing, since = self._spent.get(key, (0.0, 0.0))
        return max(0.0, missing - (self._clock() - since) / self._refill)

    def _forget_full(self) -> None:
        if len(self._spent) > CROWD:
            self._spent = {key: spent for key, spent in self._spent.items() if self._missing(key) > 0}
