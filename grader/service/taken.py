"""Which names are taken: how each name in the store looks, read once and then only what has come since."""

from __future__ import annotations

import threading

from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.service.looks import looks
from grader.store import accounts


class Taken:
    """Knows how every name of a store looks; a new name costs as much time among 10 000 others as among ten."""

    def __init__(self) -> None:
        """Know no name yet."""
        self._lock = threading.Lock()
        self._looks: set[str] = set()
        self._count = 0  # names read so far, up to the id of the last one
        self._last = 0

    def refuse(self, session: Session, name: str) -> None:
        """Refuse a name that looks like one in the store.

        Raises:
            NotAllowed: it does.
        """
        with self._lock:
            self._catch_up(session)
            alike = not looks(name).isdisjoint(self._looks)
        if alike:
            raise NotAllowed(f"The name {name} is taken, or looks like one that is; please choose another one.")

    def _catch_up(self, session: Session) -> None:
        """Read the names that have come: another process writes too, and a lower id may be committed later."""
        fresh = accounts.names(session, after=self._last)
        if self._count + len(fresh) != accounts.count(session):
            self._looks, self._count = set(), 0
            fresh = accounts.names(session)
        for id, name in fresh:
            self._looks |= looks(name)
            self._last = id
        self._count += len(fresh)
