"""What people are typing: kept for each person and exercise, so that it is there on their next device."""

from __future__ import annotations

from collections.abc import Callable, Collection

from grader.errors import NotAllowed
from grader.store import people, turns
from grader.store.engine import Database, server_time
from grader.store.records import Draft, User


class Drafts:
    """Stores and returns drafts.

    Args:
        database: where they are stored.
        exercises: the names that there are.
        longest: bytes of a draft; a longer one could not be submitted.
        clock: gives the seconds since the epoch.
    """

    def __init__(
        self, database: Database, exercises: Collection[str], *, longest: int, clock: Callable[[], float]
    ) -> None:
        """Keep nothing yet."""
        self._database, self._exercises, self._longest, self._clock = database, exercises, longest, clock

    def keep(self, user: User, exercise: str, source: str, base: float = 0.0) -> Draft:
        """Store a draft, and return what is stored now: another text if that one is newer.

        Args:
            user: whose it is.
            exercise: its name.
            source: the text.
            base: `saved` of the draft that the text was made from; 0 for none. If somebody else, or the same person on
                another device, has stored a different text since, that text stays.

        Raises:
            NotAllowed: there is no such exercise, the text is too long, the account was deleted, or there is none:
                visitors come without number, so what they type stays in their browser.
        """
        if user.visitor:
            raise NotAllowed("Register to have your drafts kept on the server.")
        if exercise not in self._exercises:
            raise NotAllowed(f"There is no exercise called {exercise[:64]!r}.")
        text = source.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        if (length := len(text.encode())) > self._longest:
            raise NotAllowed(f"The draft is too long: {length} bytes, where {self._longest} are allowed.")
        with self._database.write() as session:
            turns.of_person(session, user.id)  # who may type on two devices
            stored = people.draft(session, user.id, exercise)
            if stored is not None and stored.saved != base and stored.source != text:
                return stored
            draft = Draft(text, server_time(session, self._clock))
            people.keep_draft(session, user.id, exercise, draft)
        return draft

    def of(self, user: User, exercise: str) -> Draft | None:
        """Return what the person was typing last; None for nothing."""
        with self._database.read() as session:
            return people.draft(session, user.id, exercise)
