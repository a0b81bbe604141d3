"""What every engine on the submission table does alike: it takes jobs over, takes them back, and counts them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from sqlalchemy import event
from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.live import Live
from grader.store.engine import Database
from grader.store.records import SubmissionId


class TableEngine(ABC):
    """The queue as seen by the service; how slots hear of it is each engine's own.

    Args:
        database: where the submissions are.
        live: where watchers hear of what happens.
        clock: gives the seconds since the epoch.
    """

    def __init__(self, database: Database, live: Live, clock: Callable[[], float]) -> None:
        """Hold what all of them need."""
        self.live = live
        self._database = database
        self._clock = clock

    @abstractmethod
    def wake(self, queue: str) -> None:
        """Wake a worker: something has been put into the queue."""

    @abstractmethod
    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, where there is one."""

    def submit(self, session: Session, id: SubmissionId, *, queue: str, priority: int) -> None:
        """Put a stored submission into a queue, inside the caller's transaction; a lower priority comes first."""
        claims.hand_over(session, id, queue=queue, priority=priority)

        def announce(_session: Session) -> None:
            self.live.moved(id)
            self.wake(queue)

        event.listen(session, "after_commit", announce, once=True)

    def cancel(self, id: SubmissionId) -> bool:
        """Take an unfinished submission back; False if it is finished already."""
        with self._database.write() as session:
            cancelled = claims.cancel(session, id, now=self._clock())
        if cancelled:
            self.interrupt(id)
            self.live.moved(id)
        return cancelled

    def depth(self) -> dict[str, int]:
        """Count the waiting submissions of each queue."""
        with self._database.read() as session:
            return claims.depth(session)
