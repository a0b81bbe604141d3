"""How long a try may hold a worker while newcomers wait: a few times as long as others of that exercise took here."""

from __future__ import annotations

import threading
from collections import deque
from statistics import median

REMEMBERED = 9  # gradings of each exercise
TIMES = 3.0  # as long as the median of them
SHORTEST, LONGEST = 0.3, 4.0  # of what a try has as long as nothing is known of its exercise


class TurnLengths:
    """The turns of each exercise in this process; the workers share it.

    An endless loop at an exercise that takes a tenth of a second gives way after a third of a second, and an honest
    answer to one that trains a model is not begun twice.
    """

    def __init__(self, first: float) -> None:
        """Give `first` seconds to each exercise of which nothing is known yet."""
        self._first = first
        self._taken: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def note(self, exercise: str, seconds: float) -> None:
        """Remember how long a grading took, from the claim to the verdict."""
        with self._lock:
            self._taken.setdefault(exercise, deque(maxlen=REMEMBERED)).append(seconds)

    def seconds(self, exercise: str, tries: int) -> float:
        """Return what a try has before others go first; each further try has twice as long.

        Args:
            exercise: its id.
            tries: how often the job was taken, this time included.
        """
        with self._lock:
            taken = tuple(self._taken.get(exercise, ()))
        turn = self._first
        if taken:
            turn = min(max(TIMES * median(taken), SHORTEST * self._first), LONGEST * self._first)
        return float(turn * 2.0 ** (tries - 1))
