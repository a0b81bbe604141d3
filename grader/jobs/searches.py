"""The searches for causes that wait until nobody waits for a verdict whose class comes first.

A member's search waits for members only: visitors cost nothing to make, and some of them can always wait. One of
somebody outside waits for everybody. Among those of a class the next one is of whoever had the fewest seconds of
searches since the last time that none waited.

What an answer gave is kept in memory meanwhile: 0.3 MB in the median of all exercises, at most 1.5 MB but for one that
trains on 3 MB.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from grader.box.cancel import CancelToken
from grader.jobs.queue import Claim, Complete
from grader.judge.report import Report
from grader.store.records import GradingId

MOST_WAITING = 64
LATEST_SECONDS = 30.0  # so long a search waits for others' verdicts; then each comes after one more of them


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
    """Those of one queue in one process, members' first; every method may be called from any thread."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._waiting: list[Search] = []
        self._used: dict[str, float] = {}  # seconds, by payer
        self._busy = 0
        self.cancel = CancelToken()  # ends those that run, and those that are taken later

    def put(self, search: Search) -> Search | None:
        """Keep a search for later; return one that is not kept: where too many of those outside wait, the last of most.

        Those of members are made before too many wait, but others' have no turn as long as members come.
        """
        with self._lock:
            self._waiting.append(search)
            outside = [one for one in self._waiting if one.claim.outside]
            if not search.claim.outside or len(outside) <= MOST_WAITING:
                return None
            number = Counter(one.claim.payer for one in outside)
            late = max(outside, key=lambda one: (number[one.claim.payer], one.since))
            self._waiting.remove(late)
            return late

    @property
    def next(self) -> Search | None:
        """The one that is next, None if there is none."""
        with self._lock:
            return self._next()

    def take(self) -> Search | None:
        """Return the one that is next, and keep it no longer; None if there is none."""
        with self._lock:
            search = self._next()
            if search is not None:
                self._waiting.remove(search)
            return search

    def _next(self) -> Search | None:
        def turn(search: Search) -> tuple[bool, float, float]:
            return search.claim.outside, self._used.get(search.claim.payer, 0.0), search.since

        return min(self._waiting, key=turn, default=None)

    def took(self, search: Search, seconds: float) -> None:
        """Note how long one has taken."""
        with self._lock:
            payer = search.claim.payer
            self._used[payer] = self._used.get(payer, 0.0) + seconds
            if not self._waiting:
                self._used.clear()

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

    def pressing(self, search: Search) -> bool:
        """Return whether it should be made before the next verdict: too many wait, or it waits for too long."""
        with self._lock:
            return len(self._waiting) > MOST_WAITING or time.monotonic() > search.since + LATEST_SECONDS

    @property
    def open(self) -> bool:
        """Whether one waits, is made, or may be put at any moment."""
        with self._lock:
            return bool(self._waiting or self._busy)
