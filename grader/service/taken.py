"""Which names are taken: how each name in the store looks, read once and then only what has come since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from grader.errors import NotAllowed
from grader.service.confusables import skeleton

Names = Callable[[int], Sequence[tuple[int, str]]]  # those with a higher id, by id


class TakenNames:
    """Knows how every name of a store looks; a new name costs as much time among 10 000 others as among ten."""

    def __init__(self) -> None:
        """Know no name yet."""
        self._lock = threading.Lock()
        self._looks: set[str] = set()
        self._count = 0  # names read so far, up to the id of the last one
        self._last = 0

    def refuse(self, name: str, names: Names, count: int) -> None:
        """Refuse a name that looks like one in the store, which has `count` names.

        Raises:
            NotAllowed: it does.
        """
        with self._lock:
            self._catch_up(names, count)
            alike = not skeleton(name).isdisjoint(self._looks)
        if alike:
            raise NotAllowed(f"The name {name} is taken, or looks like one that is; please choose another one.")

    def _catch_up(self, names: Names, count: int) -> None:
        """Read the names that have come: another process writes too, and a lower id may be committed later."""
        fresh = names(self._last)
        if self._count + len(fresh) != count:
            self._looks, self._count = set(), 0
            fresh = names(0)
        for id, name in fresh:
            self._looks |= skeleton(name)
            self._last = id
        self._count += len(fresh)
