"""A job in the hands of a worker."""

from __future__ import annotations

from dataclasses import dataclass

from grader.jobs.live import LiveTracker
from grader.jobs.queue import Claim, Preempted


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job that a worker has since `began`, in seconds since the epoch, and has no verdict on yet."""

    claim: Claim
    tracker: LiveTracker
    began: float

    def let_others_go_first(self) -> None:
        """Stop it for others who wait."""
        self.tracker.cancel.cancel(Preempted(f"submission {self.claim.id} lets others go first"))
