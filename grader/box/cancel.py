"""Cancels a run that is under way: a student takes it back, others go first, the service stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.errors import Stopped


class CancelToken:
    """Is cancelled once, from any thread, for the first reason that is given."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.reason: Stopped | None = None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self.reason is not None

    def cancel(self, reason: Stopped | None = None) -> None:
        """Cancel, now and for whatever begins later; `reason` is what `check` raises."""
        with self._lock:
            if self.reason is None:
                self.reason = reason or Stopped("this was stopped while it was under way")
            for callback in self._callbacks:
                callback()

    def check(self) -> None:
        """Go on, unless it was cancelled; for work of our own that takes long and cannot be killed.

        Raises:
            Stopped: it was cancelled; a subclass where the reason is one.
        """
        if self.reason is not None:
            raise self.reason

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` if it is cancelled during the block, or was before; never after the block."""
        with self._lock:
            self._callbacks.append(callback)
            if self.cancelled:
                callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)
