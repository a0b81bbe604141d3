"""A wake-up call for sleeping workers that is never lost."""

from __future__ import annotations

import threading


class WakeUp:
    """Counts its calls, so that one between a look at the queue and falling asleep counts all the same."""

    def __init__(self) -> None:
        """Start without a call."""
        self._changed = threading.Condition()
        self._calls = 0

    @property
    def calls(self) -> int:
        """How often somebody was woken."""
        return self._calls

    def wake(self, sleepers: int = 1) -> None:
        """Wake that many of those who sleep."""
        with self._changed:
            self._calls += 1
            self._changed.notify(sleepers)

    def wake_all(self) -> None:
        """Wake everybody who sleeps."""
        with self._changed:
            self._calls += 1
            self._changed.notify_all()

    def wait(self, calls: int) -> None:
        """Sleep until there were more calls than `calls`."""
        with self._changed:
            if self._calls == calls:
                self._changed.wait()
