"""The seam between the service and whatever delivers the jobs.

The submission table is the truth, so a deliverer may be simple and may be exchanged: it may deliver a job twice or
forget it, because a result is written by one guarded transaction and `reconcile` hands open jobs over again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sqlalchemy.orm import Session

from grader.box.cancel import CancelToken
from grader.box.observations import CallSeen
from grader.errors import Stopped
from grader.judge.report import Report
from grader.store.records import Submission, SubmissionId

TURN_SECONDS = 20.0  # how far each further unfinished submission of the same person stands behind


class Cancelled(Stopped):
    """The submission was cancelled while it was being graded; nobody waits for its result."""


class Preempted(Stopped):
    """The submission has run for long while others wait; it is put behind them and begun anew."""


class Tracker(Protocol):
    """Takes the steps of one grading as they are done.

    `cancel` is cancelled with the submission, or when the try has to let others go first. `alone` says that nothing
    else is graded on this machine meanwhile.

    Raises:
        Cancelled: at any call after the submission was cancelled.
        Preempted: at any call after others were let go first.
    """

    cancel: CancelToken
    alone: bool

    def __call__(self, seen: CallSeen) -> None:
        """Note that a call is done."""
        ...

    def expect(self, total: int) -> None:
        """Say how many steps there will be."""
        ...


Grade = Callable[[Submission, Tracker], Report]


class Engine(Protocol):
    """Delivers jobs to slots; one test suite serves every implementation."""

    def submit(self, session: Session, id: SubmissionId, *, queue: str, priority: int) -> None:
        """Put a stored submission into a queue, inside the caller's transaction; a lower priority comes first."""
        ...

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        ...

    def cancel(self, id: SubmissionId) -> bool:
        """Take an unfinished submission back; False if it is finished already."""
        ...

    def depth(self) -> dict[str, int]:
        """Count the waiting submissions of each queue."""
        ...

    def reconcile(self) -> int:
        """Hand over again what is open and in nobody's hands; return how many those were."""
        ...

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        ...


def virtual_deadline(now: float, unfinished: int) -> int:
    """Return the priority of a person's next job in milliseconds since the epoch.

    Args:
        now: seconds since the epoch.
        unfinished: how many jobs of the same person wait or run already.
    """
    return round((now + unfinished * TURN_SECONDS) * 1000)
