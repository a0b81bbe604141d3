"""What a grading is given by the queue and gives back, how far it is, and the claim by which a worker holds a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.box.cancel import CancelToken
from grader.box.keys import case_of
from grader.errors import Stopped
from grader.judge.report import Report
from grader.store.gradings import Versions
from grader.store.records import Reason, Submission, SubmissionId

if TYPE_CHECKING:  # it brings torch, which the pages' process does without
    from grader.box.observations import CallSeen


POINTS = 10  # of the losses of one call, so many are shown while it runs
LONGEST_CURVE = 1000  # points; a watcher is sent all of them again with every call


class Cancelled(Stopped):
    """The submission was cancelled while it was being graded; nobody waits for its result."""


class Preempted(Stopped):
    """The submission has run for long while others wait; it is put behind them and begun anew."""


Complete = Callable[[CancelToken], Report]  # returns a report with all that was found out; raises `Stopped`


@dataclass(frozen=True, slots=True)
class GradingSteps:
    """How far a grading is; `curve` holds the losses so far of what it trains."""

    step: str = ""
    done: int = 0
    total: int = 0
    curve: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Take a curve as JSON has it, too."""
        object.__setattr__(self, "curve", tuple(self.curve))


class Tracker:
    """Takes the steps of one grading under way as they are done, and tells `changed` of each.

    Attributes:
        cancel: is cancelled with the submission, or when the try has to let others go first.
        steps: how far it is.
        alone: whether nothing else is graded on this machine meanwhile.
        complete: set where more can be found out than the report says that is about to be returned, without a change of
            its points.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.cancel = CancelToken()
        self.steps = GradingSteps()
        self.alone = False
        self.complete: Complete | None = None
        self._changed = changed
        self._titles: Mapping[str, str] = {}
        self._case = ""

    def __call__(self, seen: CallSeen) -> None:
        """Note that a call is done, and what its training lost on the way.

        Raises:
            Cancelled: the submission was cancelled meanwhile.
            Preempted: it has to let others go first.
        """
        self.cancel.check()
        done = self.steps.done + 1
        total = max(done, self.steps.total) if self.steps.total else 0
        case, before = case_of(seen.name), self._case
        self._case = case
        losses = seen.losses()
        few = losses[:: -max(1, len(losses) // POINTS)][::-1]  # the last one among them
        curve = (*(self.steps.curve if case == before else ()), *few)[-LONGEST_CURVE:]
        self.steps = GradingSteps(self._titles.get(case, seen.name), done, total, curve)
        self._changed()

    def expect(self, total: int, titles: Mapping[str, str]) -> None:
        """Say how many steps there will be, and what their cases are called."""
        self._titles = titles
        self.steps = replace(self.steps, total=total)
        self._changed()


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
        change: the change to which the result belongs; None where it is to be the current one.
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
    change: int | None = None
