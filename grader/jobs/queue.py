"""What a grading is given by the queue and gives back, and the claim by which a worker holds a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grader.box.cancel import CancelToken
from grader.errors import Stopped
from grader.judge.report import Report
from grader.store.gradings import Versions
from grader.store.records import Reason, Submission, SubmissionId

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
