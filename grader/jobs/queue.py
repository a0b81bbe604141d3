"""The ports of the queue: what the service asks of it, and what a worker does.

The embedded engine implements both on the tables of the database. Another engine may deliver a job twice or forget it:
the result of a try is stored by one guarded transaction, and open submissions without a job are given one again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlalchemy.orm import Session

from grader.box.cancel import CancelToken
from grader.errors import Stopped
from grader.judge.report import Report
from grader.store.gradings import Grading, Versions
from grader.store.records import GradingId, Reason, Submission, SubmissionId, Watch

if TYPE_CHECKING:  # it brings torch, which the pages' process does without
    from grader.box.observations import CallSeen


class Cancelled(Stopped):
    """The submission was cancelled while it was being graded; nobody waits for its result."""


class Preempted(Stopped):
    """The submission has run for long while others wait; it is put behind them and begun anew."""


Complete = Callable[[CancelToken], Report]  # returns a report with all that was found out; raises `Stopped`


class Tracker(Protocol):
    """Takes the steps of one grading as they are done.

    `cancel` is cancelled with the submission, or when the try has to let others go first. `alone` says that nothing
    else is graded on this machine meanwhile. `complete` is set where more can be found out than the report says that is
    about to be returned, without a change of its points.

    Raises:
        Cancelled: at any call after the submission was cancelled.
        Preempted: at any call after others were let go first.
    """

    cancel: CancelToken
    alone: bool
    complete: Complete | None

    def __call__(self, seen: CallSeen) -> None:
        """Note that a call is done."""
        ...

    def expect(self, total: int, titles: Mapping[str, str]) -> None:
        """Say how many steps there will be, and what their cases are called."""
        ...


Grade = Callable[[Submission, Tracker], Report]
VersionsOf = Callable[[str], Versions]  # by the id of an exercise: what a submission is graded with here


@dataclass(frozen=True, slots=True)
class Claim:
    """One try of one job; `token` tells it from every other try.

    Attributes:
        tries: how often the job was taken, this time included.
        faults: how many tries ended by a fault of ours.
        kills: how many ended because what ran the job was killed: its grading process, or all of the service.
        payer: who is charged for the time that it takes; see `grader.jobs.shares`.
        outside: whether whoever handed it in is in no class.
    """

    id: SubmissionId
    reason: Reason
    exercise: str
    seed: int
    device: str
    token: str
    tries: int
    faults: int
    kills: int
    started: float
    payer: str = ""
    outside: bool = False


class Queue(Protocol):
    """Delivers submissions to workers, as the service sees it."""

    def start(self, slots: Mapping[str, int]) -> None:
        """Begin to grade, so many submissions at once on each device, and return."""
        ...

    def elsewhere(self) -> dict[str, int]:
        """Return how many submissions are graded at once on each device of other processes, as far as that is known."""
        ...

    def submit(self, session: Session, id: SubmissionId, *, queue: str, priority: int, payer: str = "") -> None:
        """Put a stored submission into a queue, inside the caller's transaction.

        Args:
            priority: of those of a payer a lower one comes first.
            payer: who is charged for it, and whose turn it is; without one, whoever has handed it in.
        """
        ...

    def cancel(self, id: SubmissionId) -> bool:
        """Take an unfinished submission back; False if it is finished already."""
        ...

    def subscribe(self, id: SubmissionId) -> AsyncIterator[Watch]:
        """Yield how far a submission is, at once and at each change, up to its end."""
        ...

    def depth(self) -> dict[str, int]:
        """Count the waiting submissions of each queue."""
        ...

    def grades(self) -> bool:
        """Return whether what waits is graded now, here or, where machines share a database, maybe by another one."""
        ...

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        ...


class Jobs(Protocol):
    """Where a worker takes its jobs from, and what it gives them back to.

    What ends a try returns False, and changes nothing, if the job is no longer in the hands of that try.

    Raises:
        StoreUnavailable: at any method, while the database does not answer.
    """

    def next_was_killed(self, queue: str) -> bool:
        """Return whether a try of the job that is next was killed; such a job is to be graded alone."""
        ...

    def take(self, queue: str, token: str, *, alone: bool) -> Claim | None:
        """Take the next job that was killed before (`alone`), or that never was; None if none is ready."""
        ...

    def was_killed(self, id: SubmissionId) -> bool:
        """Return whether a try of this job was killed; it is to be graded alone."""
        ...

    def take_one(self, id: SubmissionId, token: str) -> Claim | None:
        """Take this job; None if it waits no longer, or if it is another one's turn, which then is delivered."""
        ...

    def newcomers(self, queue: str, *, members: bool) -> bool:
        """Return whether a job that was never taken waits in a queue; of members of the class alone, or of anybody."""
        ...

    def charge(self, claim: Claim, seconds: float) -> None:
        """Charge for what was done after the verdict."""
        ...

    def submission(self, claim: Claim) -> Submission | None:
        """Return what is to be graded; None if it was deleted together with its owner."""
        ...

    def finish(self, claim: Claim, grading: Grading) -> GradingId | None:
        """Store the verdict; None if the job is no longer in the hands of this try."""
        ...

    def complete(self, id: GradingId, report: Report, body: str, *, submission: SubmissionId) -> None:
        """Store what was found after the verdict on a submission, in the same grading; `body` is the report as JSON."""
        ...

    def retry(self, claim: Claim, pause: float) -> bool:
        """Queue the job again after a fault of ours, not to be taken for `pause` seconds."""
        ...

    def retry_alone(self, claim: Claim) -> bool:
        """Queue the job again after what ran it was killed; its next try is made with nothing beside it."""
        ...

    def step_back(self, claim: Claim) -> bool:
        """Queue the job again behind those who wait now."""
        ...
