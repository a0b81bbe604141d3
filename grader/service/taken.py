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
        self._looks: dict[str, set[int]] = {}  # whose name looks so
        self._count = self._renames = 0  # names read so far, up to the id of the last one
        self._last = 0

    def refuse(self, name: str, names: Names, census: tuple[int, int], *, of: int = 0) -> None:
        """Refuse a name that looks like one in the store.

        Args:
            name: the name.
            names: reads those in the store.
            census: how many there are, and how often people were renamed in all.
            of: who is to have the name; it may look like the one that they have.

        Raises:
            NotAllowed: it looks like another one.
        """
        with self._lock:
            self._catch_up(names, census)
            alike = any(self._looks.get(look, set()) - {of} for look in skeleton(name))
        if alike:
            raise NotAllowed(f"The name {name} is taken, or looks like one that is; please choose another one.")

    def _catch_up(self, names: Names, census: tuple[int, int]) -> None:
        """Read the names that have come: another process writes too, and a lower id may be committed later."""
        count, renames = census
        fresh = names(self._last)
        if self._count + len(fresh) != count or self._renames != renames:
            self._looks, self._count, self._renames = {}, 0, renames
            fresh = names(0)
        for id, name in fresh:
            for look in skeleton(name):
                self._looks.setdefault(look, set()).add(id)
            self._last = id
        self._count += len(fresh)
