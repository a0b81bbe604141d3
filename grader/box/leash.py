"""Lets somebody else end a run that is under way: a student who cancels, a service that stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.errors import Stopped


class Leash:
    """Ends what is held on it when it is pulled, now or as soon as something is held; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []
        self.pulled = False

    def pull(self) -> None:
        """End whatever is held, and whatever will be."""
        with self._lock:
            self.pulled = True
            for end in self._ends:
                end()

    def check(self) -> None:
        """Go on, unless it was pulled; for work of our own that takes long and cannot be killed.

        Raises:
            Stopped: it was pulled.
        """
        if self.pulled:
            raise Stopped("this was stopped while it was under way")

    @contextmanager
    def holding(self, end: Callable[[], None]) -> Iterator[None]:
        """Hold something for the length of the block; `end` ends it and is never called after the block."""
        with self._lock:
            self._ends.append(end)
            if self.pulled:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
