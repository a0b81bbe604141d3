"""One slot: takes a job, has it graded, stores the verdict, takes the next."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from grader.jobs import claims
from grader.jobs.bell import Bell
from grader.jobs.claims import Claim
from grader.jobs.engine import Grade, Withdrawn
from grader.jobs.live import Live
from grader.judge.report import Report, Status
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import State, Submission

LOG = logging.getLogger(__name__)
APOLOGY = (
    "Something of ours broke while this was being graded; your code is not to blame, and no attempt is used up. "
    "Please submit it again. If that does not help, give your instructor this id: {incident}"
)


@dataclass(frozen=True, slots=True)
class Retries:
    """What happens after a fault of ours.

    Attributes:
        pauses: seconds to wait before each further try; after the last one the submission is broken.
        tries: how often a job may be taken in all; more, and it is what kills its workers.
    """

    pauses: tuple[float, ...] = (1.0, 5.0)
    tries: int = 12


@dataclass(slots=True, kw_only=True)
class Slot:
    """A loop for a thread of its own; `token` names the claim in its hands, or the one it is about to make."""

    queue: str
    database: Database
    grade: Grade
    live: Live
    bell: Bell
    worker: str
    stop: threading.Event
    retries: Retries
    clock: Callable[[], float]
    token: str = ""

    def serve(self) -> None:
        """Work until `stop` is set; sleep while there is nothing to do."""
        while not self.stop.is_set():
            rings = self.bell.rings
            try:
                claim = self._take()
                if claim is not None:
                    self._work(claim)
                    continue
            except Exception:  # a full disk must not end the slot; the keeper finds what it was holding
                LOG.exception("a slot could not reach the queue")
            self.token = ""
            if not self.stop.is_set():
                self.bell.wait(rings)

    def _take(self) -> Claim | None:
        self.token = secrets.token_hex(8)
        with self.database.write() as session:
            # Looked at under the write lock: after a drain has handed everything back, nothing may be taken any more.
            if self.stop.is_set():
                return None
            return claims.take(session, self.queue, worker=self.worker, token=self.token, now=self.clock())

    def _work(self, claim: Claim) -> None:
        with self.database.read() as session:
            submission = submissions.get(session, claim.id)
        if submission is None:
            return  # deleted together with its owner
        if claim.tries > self.retries.tries:
            self._give_up(claim, submission, f"it was taken {claim.tries} times and never came to an end")
            return
        with self.live.grading(claim.id) as tracker:
            self.live.moved(claim.id)
            try:
                self._store(claim, self.grade(submission, tracker), State.DONE)
            except Withdrawn:
                LOG.info("submission %s was cancelled while it ran", claim.id)
            except Exception as fault:  # noqa: BLE001 - whatever it is, it is ours: what a submission does ends up in its report
                if not tracker.withdrawn:
                    self._excuse(claim, submission, fault)
        self.live.moved(claim.id)

    def _store(self, claim: Claim, report: Report, state: State) -> None:
        with self.database.write() as session:
            kept = claims.finish(session, claim, report, state=state, now=self.clock())
        if not kept:
            LOG.info("try %d of submission %s came too late; its result is dropped", claim.tries, claim.id)

    def _excuse(self, claim: Claim, submission: Submission, fault: Exception) -> None:
        if claim.faults >= len(self.retries.pauses):
            self._give_up(claim, submission, fault)
            return
        pause = self.retries.pauses[claim.faults]
        LOG.warning("try %d of %s failed, next in %s s: %r", claim.tries, claim.id, pause, fault, exc_info=fault)
        with self.database.write() as session:
            claims.put_back(session, claim, ready=self.clock() + pause)

    def _give_up(self, claim: Claim, submission: Submission, fault: Exception | str) -> None:
        incident = secrets.token_hex(4)
        trace = fault if isinstance(fault, Exception) else None
        LOG.error("incident %s: submission %s is broken: %s", incident, claim.id, fault, exc_info=trace)
        report = Report(
            exercise=submission.exercise,
            status=Status.UNGRADABLE,
            score=0.0,
            seed=submission.seed,
            device=submission.device,
            seconds=self.clock() - claim.started,
            reason=APOLOGY.format(incident=incident),
            incident=incident,
        )
        self._store(claim, report, State.BROKEN)
