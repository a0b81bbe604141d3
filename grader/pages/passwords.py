"""Where passwords are hashed: one at a time, at a lower priority than the pages, in a queue that has an end.

A hash takes a fifth of a second of a core on purpose. In six threads, each hash with four of its own, forty people who
signed in at once kept the pages waiting twenty times as long as usual.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 1  # of two cores; five a second are a class of 300 in a minute
NICENESS = 5  # as grading has
MOST = 128  # waiting in all
EACH = 64  # of one address, behind which a whole class may sit; the last of them waits for about 13 seconds

Result = TypeVar("Result")


class Busy(Exception):
    """There are too many waiting already."""


class Passwords:
    """Does what hashes a password."""

    def __init__(self, *, most: int = MOST, each: int = EACH) -> None:
        """Let `most` wait at once, `each` of one address."""
        self._threads = ThreadPoolExecutor(AT_ONCE, "passwords", initializer=_step_back)
        self._most, self._each = most, each
        self._waiting: Counter[str] = Counter()  # by network

    async def run(self, network: str, do: Callable[[], Result]) -> Result:
        """Return what `do` returns, once it is its turn.

        Raises:
            Busy: too many are waiting, of that network or in all.
        """
        if self._waiting.total() >= self._most or self._waiting[network] >= self._each:
            raise Busy
        self._waiting[network] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, do)
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network]


def _step_back() -> None:
    """Let this thread, and no other one of the process, come after the pages."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
