"""The queue of a process that serves pages and grades nothing: other machines do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from grader.jobs.cluster.heartbeat import slots_of_all
from grader.jobs.cluster.library import Deferred
from grader.jobs.cluster.notices import Notices
from grader.jobs.cluster.tryouts import SharedTryouts
from grader.jobs.live import Live
from grader.jobs.messages import Interrupt, Message, Ready, TryoutAnswered, heed_progress
from grader.jobs.table import TableQueue
from grader.store.engine import Database
from grader.store.records import SubmissionId


class RemoteQueue(TableQueue):
    """Hands over what is handed in and tried, and hears what comes of it.

    Args:
        database: a Postgres, where the submissions are.
        notices: what processes of all machines say.
        clock: gives the seconds since the epoch.
    """

    def __init__(self, database: Database, notices: Notices, *, clock: Callable[[], float] = time.time) -> None:
        """Hear nothing yet."""
        super().__init__(database, Deferred(), Live(), clock)
        self.tryouts = SharedTryouts(database)
        self._notices = notices

    def wait(self) -> Ready:
        """Return where submissions are graded, in words."""
        return Ready("sandbox on another machine")

    def start(self, slots: Mapping[str, int]) -> None:
        """Begin to listen; what waits for a device is graded where there is one."""
        self.run(slots)

    def run(self, slots: Mapping[str, int]) -> None:
        """Start nobody; those who grade are elsewhere."""
        self._notices.listen(self._heed)

    def elsewhere(self) -> dict[str, int]:
        """Return how many submissions are graded at once on each device of other processes."""
        slots = slots_of_all(self._database)
        self.live.slots = max(1, slots.total())
        return slots

    def wake(self, queue: str) -> None:
        """Do nothing: with the transaction that deferred the job, Postgres wakes a worker."""

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, on whatever machine it is made."""
        self._notices.publish(Interrupt(id))

    def drain(self, seconds: float) -> bool:
        """Stop listening; nothing is graded here, so nothing has to be handed back."""
        self.tryouts.close()
        self._notices.close()
        return True

    def _heed(self, message: Message) -> None:
        if isinstance(message, TryoutAnswered):
            self.tryouts.look()
        else:
            heed_progress(self.live, message)
