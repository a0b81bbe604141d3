"""The searches for causes that wait until nobody waits for a verdict.

What an answer gave is kept in memory meanwhile: 0.3 MB in the median of all exercises, at most 1.5 MB but for one that
trains on 3 MB.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from grader.box.cancel import CancelToken
from grader.jobs.queue import Claim, Complete
from grader.judge.report import Report
from grader.store.records import GradingId

MOST_WAITING = 64
LATEST_SECONDS = 30.0  # so long a search waits for others' verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is to be found out after a verdict.

    Attributes:
        claim: the try that reached the verdict.
        stored: the grading to which the cause is added.
        verdict: the report as it is stored.
        complete: returns the report with what was found out.
    """

    claim: Claim
    stored: GradingId
    verdict: Report
    complete: Complete
    since: float = field(default_factory=time.monotonic)


class Searches:
    """Those of one queue in one process, oldest first; every method may be called from any thread."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._waiting: deque[Search] = deque()
        self._busy = 0
        self.cancel = CancelToken()  # ends those that run, and those that are taken later

    def put(self, search: Search) -> None:
        """Keep a search for later."""
        with self._lock:
            self._waiting.append(search)

    def take(self) -> Search | None:
        """Return the one that waits longest, None if there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count as open during the block, in which one is made, or may be put."""
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    @property
    def waiting(self) -> bool:
        """Whether one waits."""
        return bool(self._waiting)

    @property
    def pressing(self) -> bool:
        """Whether one should be made before the next verdict: too many wait, or one waits for too long."""
        with self._lock:
            waiting = self._waiting
            too_many = len(waiting) > MOST_WAITING
            return too_many or (bool(waiting) and time.monotonic() > waiting[0].since + LATEST_SECONDS)

    @property
    def open(self) -> bool:
        """Whether one waits, is made, or may be put at any moment."""
        with self._lock:
            return bool(self._waiting or self._busy)
