"""Supervises the grading processes of one of several machines, and hears what those of the others say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from grader.jobs.cluster.heartbeat import slots_of_all
from grader.jobs.cluster.library import Deferred
from grader.jobs.cluster.notices import Notices
from grader.jobs.cluster.recovery import Holder, machine_in
from grader.jobs.messages import Interrupt
from grader.jobs.supervisor import Start, WorkerSupervisor
from grader.store.engine import Database
from grader.store.records import SubmissionId


class ClusterSupervisor(WorkerSupervisor):
    """Delivers the jobs of a database that several machines share.

    Args:
        database: a Postgres, where the submissions are.
        start: starts a grading process.
        processes: how many there are on this machine.
        notices: what processes of all machines say.
        workers: the directory in which the grading processes of this machine show that they live.
        options: those of `WorkerSupervisor`.
    """

    def __init__(
        self, database: Database, start: Start, processes: int, *, notices: Notices, workers: Path, **options: Any
    ) -> None:
        """Start the first process."""
        super().__init__(database, start, processes, delivery=Deferred(), **options)
        self._notices = notices
        self._workers = workers

    def start(self, slots: Mapping[str, int]) -> None:
        """Begin to grade and return; what waits for a device that is not here may be for another machine."""
        self.run(slots)

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        self._notices.listen(self._heed)
        super().run(slots)

    def elsewhere(self) -> dict[str, int]:
        """Return how many submissions are graded at once on each device, on whatever machine."""
        slots = slots_of_all(self._database)
        self.live.slots = max(1, slots.total())
        return slots

    def wake(self, queue: str) -> None:
        """Do nothing: with the transaction that deferred the job, Postgres wakes a worker."""

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, on whatever machine it is made."""
        self._notices.publish(Interrupt(id))

    def grades(self) -> bool:
        """Return whether this service goes on; while the processes here are replaced, other machines may grade."""
        return not self._leaving.is_set()

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        try:
            return super().drain(seconds)
        finally:
            self._notices.close()

    def _held(self, session: Session) -> list[str]:
        machine = machine_in(self._workers)
        return [name for name in super()._held(session) if Holder.read(name).machine == machine]
