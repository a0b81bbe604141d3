"""A job in the hands of a worker: how far it is, and whether others may still go first."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from grader.jobs.live import LiveTracker
from grader.jobs.queue import Claim, Preempted
from grader.judge.report import Report
from grader.store.records import GradingId


@dataclass(slots=True)
class HeldJob:
    """A job that a worker has since `began`; `stored` and `verdict` are there once the verdict is stored.

    It is used from the thread that grades and from the one that looks after turns.
    """

    claim: Claim
    tracker: LiveTracker
    began: float
    stored: GradingId | None = None
    verdict: Report | None = None
    _keeps_its_turn: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def let_others_go_first(self) -> None:
        """Stop it for others who wait, unless it has a verdict: what is done after that has a budget of its own."""
        with self._lock:
            if not self._keeps_its_turn:
                self.tracker.cancel.cancel(Preempted(f"submission {self.claim.id} lets others go first"))

    def keep_its_turn(self) -> None:
        """Let nobody go first from now on, since its verdict is about to be stored.

        Raises:
            Stopped: others go first already, or it was cancelled.
        """
        with self._lock:
            self.tracker.cancel.check()
            self._keeps_its_turn = True
