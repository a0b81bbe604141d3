"""The queue on the tables of the database: what the pages' process and the workers' processes do there."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import event
from sqlalchemy.orm import Session

from grader.jobs import claims, shares
from grader.jobs.live import Live, Watching
from grader.jobs.queue import Claim
from grader.judge.report import Report
from grader.store import gradings, submissions
from grader.store.engine import Database, StoreUnavailable, server_time
from grader.store.gradings import Grading
from grader.store.records import GradingId, Submission, SubmissionId, Watch
from grader.store.tables import JobRow

LOG = logging.getLogger(__name__)
BACK_SECONDS = 60.0  # so far behind the same payer's others stands what was overtaken or killed


class Queue(ABC):
    """Delivers submissions to workers, as the service sees it; how workers hear of them is each subclass's own."""

    def __init__(self, database: Database, live: Live, clock: Callable[[], float]) -> None:
        self.live = live
        self._database = database
        self._clock = clock
        self._watching = Watching(database, live, clock=clock)

    @abstractmethod
    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many workers for each queue and return."""

    @abstractmethod
    def wake(self, queue: str) -> None:
        """Wake a worker: something has been put into the queue."""

    @abstractmethod
    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""

    @abstractmethod
    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, where there is one."""

    def start(self, slots: Mapping[str, int]) -> None:
        """Begin to grade, first of all what a former run has left behind, and return."""
        try:
            with self._database.write() as session:
                claims.requeue_unserved(session, tuple(slots))
        except StoreUnavailable as fault:
            LOG.warning("what waits for a device that is gone waits until the next start: %s", fault)
        self.run(slots)

    def submit(
        self, session: Session, id: SubmissionId, *, queue: str, priority: int, payer: str = "",
        change: int | None = None,
    ) -> None:  # fmt: skip
        """Put a stored submission into a queue, inside the caller's transaction.

        Args:
            priority: of those of a payer a lower one comes first.
            payer: who is charged for it, and whose turn it is; without one, whoever has handed it in.
            change: the change to which the result is to belong, and for which it is graded once more.
        """
        ready = server_time(session, self._clock)
        claims.enqueue(session, id, queue=queue, priority=priority, ready=ready, payer=payer, change=change)
        self._announce(session, queue)

        def tell(_session: Session) -> None:
            self.live.moved(id)
            self.wake(queue)

        event.listen(session, "after_commit", tell, once=True)

    def _announce(self, session: Session, queue: str) -> None:  # noqa: B027 - on one machine `wake` is enough
        """Have a worker come for one job of a queue, as a part of the caller's transaction; `wake` comes after it."""

    def cancel(self, id: SubmissionId) -> bool:
        """Take an unfinished submission back; False if it is finished already."""
        with self._database.write() as session:
            cancelled = claims.cancel(session, id, now=server_time(session, self._clock))
        if cancelled:
            self.interrupt(id)
            self.live.moved(id)
        return cancelled

    def cancel_change(self, session: Session, change: int) -> None:
        """Take what a change has in the queue out of it, inside the caller's transaction."""
        under_way = claims.cancel_change(session, change)

        def tell(_session: Session) -> None:
            for id in under_way:
                self.interrupt(id)

        event.listen(session, "after_commit", tell, once=True)

    def subscribe(self, id: SubmissionId) -> AsyncIterator[Watch]:
        """Yield how far a submission is, at once and at each change, up to its end."""
        return self._watching.watch(id)

    def depth(self) -> dict[str, int]:
        """Count the waiting submissions of each queue."""
        with self._database.read() as session:
            return claims.depth(session)

    def elsewhere(self) -> dict[str, int]:
        """Return how many submissions are graded at once on each device of other processes, as far as that is known."""
        return {}

    def grades(self) -> bool:
        """Return whether what waits is graded now, here or, where machines share a database, maybe by another one."""
        return True


@dataclass(frozen=True, slots=True)
class TableJobs:
    """Where the workers of one process take their jobs from, and what they give them back to.

    What ends a try returns False, and changes nothing, if the job is no longer in the hands of that try.

    Attributes:
        process: the process's name in the table.
        closed: says that nothing may be taken any more.
        one_each: whether to take no job of a person who has another one graded on the same kind of device.
        regrades: how many jobs of changes may be in hand at once in each queue; the other slots are for hand-ins.

    Raises:
        StoreUnavailable: at any method, while the database does not answer.
    """

    database: Database
    process: str
    closed: Callable[[], bool]
    clock: Callable[[], float]
    one_each: bool = False
    regrades: Mapping[str, int] = field(default_factory=dict)

    def next_was_killed(self, queue: str) -> bool:
        """Return whether a try of the job that is next was killed; such a job is to be graded alone."""
        with self.database.read() as session:
            return claims.next_was_killed(session, queue, now=server_time(session, self.clock), one_each=self.one_each)

    def take(self, queue: str, token: str, *, alone: bool) -> Claim | None:
        """Take the next job that was killed before (`alone`), or that never was; None if none is ready."""
        with self.database.write() as session:
            # Looked at under the write lock: after a drain has handed everything back, nothing may be taken any more.
            if self.closed():
                return None
            # The wait to be alone may have been long, and others may be first by now.
            now, one_each = server_time(session, self.clock), self.one_each
            if alone and not claims.next_was_killed(session, queue, now=now, one_each=one_each):
                return None
            return claims.take(
                session, queue, worker=self.process, token=token, now=now, killed=alone, one_each=one_each,
                regrades=self.regrades.get(queue, 1),
            )  # fmt: skip

    def newcomers(self, queue: str, *, members: bool) -> bool:
        """Return whether a job that was never taken waits in a queue; of members of the class alone, or of anybody."""
        with self.database.read() as session:
            return queue in claims.newcomers(session, members=members)

    def submission(self, claim: Claim) -> Submission | None:
        """Return what is to be graded; None if it was deleted together with its owner."""
        with self.database.read() as session:
            return submissions.get(session, claim.id)

    def finish(self, claim: Claim, grading: Grading) -> GradingId | None:
        """Store the verdict; None if the job is no longer in the hands of this try."""
        with self.database.write() as session:
            stored = claims.finish(session, claim, grading)
            self._charge(session, claim, ended=stored is not None)
            return stored

    def charge(self, claim: Claim, seconds: float) -> None:
        """Charge for what was done after the verdict."""
        with self.database.write() as session:
            shares.charge(session, claim.payer, seconds, server_time(session, self.clock))

    def complete(self, id: GradingId, report: Report, body: str, *, submission: SubmissionId) -> None:
        """Store what was found after the verdict on a submission, in the same grading; `body` is the report as JSON."""
        with self.database.write() as session:
            gradings.complete(session, id, report, body, submission=submission)

    def retry(self, claim: Claim, pause: float) -> bool:
        """Queue the job again after a fault of ours, not to be taken for `pause` seconds."""
        with self.database.write() as session:
            ready = server_time(session, self.clock) + pause
            queued = claims.put_back(session, claim, ready=ready, faults=JobRow.faults + 1)
            return self._charge(session, claim, ended=queued)

    def step_back(self, claim: Claim, *, killed: bool = False) -> bool:
        """Queue the job again behind those who wait now; if what ran it was killed, its next try is made alone."""
        with self.database.write() as session:
            priority = round((server_time(session, self.clock) + BACK_SECONDS) * 1000)
            queued = claims.put_back(session, claim, priority=priority, kills=JobRow.kills + int(killed))
            return self._charge(session, claim, ended=queued)

    def _charge(self, session: Session, claim: Claim, *, ended: bool) -> bool:
        """Charge for a try that has ended; one that was cancelled or lost meanwhile is not charged for here."""
        if ended:
            now = server_time(session, self.clock)
            shares.charge(session, claim.payer, max(0.0, now - claim.started), now)
        return ended
