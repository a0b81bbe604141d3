"""A bell that wakes sleeping slots at once and never loses a ring."""

from __future__ import annotations

import threading


class Bell:
    """Counts its rings, so that one between a look at the queue and falling asleep is heard all the same."""

    def __init__(self) -> None:
        """Start silent."""
        self._changed = threading.Condition()
        self._rings = 0

    @property
    def rings(self) -> int:
        """How often it has rung."""
        return self._rings

    def ring(self, sleepers: int = 1) -> None:
        """Wake that many of those who sleep."""
        with self._changed:
            self._rings += 1
            self._changed.notify(sleepers)

    def ring_all(self) -> None:
        """Wake everybody who sleeps."""
        with self._changed:
            self._rings += 1
            self._changed.notify_all()

    def wait(self, rings: int) -> None:
        """Sleep until it has rung more often than `rings`."""
        with self._changed:
            if self._rings == rings:
                self._changed.wait()
