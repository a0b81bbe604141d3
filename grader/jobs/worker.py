"""One worker: takes a job, has it graded, stores the verdict, and takes the next; causes while nobody waits.

A fault of ours never ends as the student's. What fails while it is graded is tried again after a pause, and stored as
broken, under an incident, where it stays. A verdict that the database does not take is kept and offered again; where
that stays too, the job goes back into the queue as if nobody had taken it. What takes no notes at all, a full disk,
ends no worker: it pauses, longer each time, and looks again.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from grader.errors import Killed, logged_for, record
from grader.jobs.held_job import HeldJob
from grader.jobs.live import Live, LiveTracker
from grader.jobs.queue import Cancelled, Claim, Complete, Grade, Jobs, Preempted, VersionsOf
from grader.jobs.retries import Retries
from grader.jobs.run_lock import RunLock
from grader.jobs.searches import Search, Searches
from grader.jobs.turn_lengths import TurnLengths
from grader.jobs.wake_up import WakeUp
from grader.jobs.written import written
from grader.judge.report import Report, Status
from grader.store.engine import StoreUnavailable
from grader.store.gradings import Grading
from grader.store.records import GradingId, SubmissionId

LOG = logging.getLogger(__name__)
Stored = TypeVar("Stored")
APOLOGY = (
    "Something of ours broke while this was being graded; your code is not to blame, and no attempt is used up. "
    "Please submit it again. If that does not help, give your instructor this id: {incident}"
)

KILLED = (
    "Your code was stopped twice because the process that ran it was killed; the second time nothing else was being "
    "graded. That happens when code uses more memory than this machine has, so it counts as out of memory, and nothing "
    "of it could be graded. Look for tensors that are larger than they need to be, and for lists that keep them; if "
    "you think that your code is not the reason, tell your instructor."
)


@dataclass(slots=True, kw_only=True)
class Worker:
    """A loop for a thread of its own; `token` names the claim that it holds, or is about to make."""

    queue: str
    jobs: Jobs
    grade: Grade
    versions: VersionsOf
    live: Live
    wake_up: WakeUp
    searches: Searches
    lock: RunLock
    stop: threading.Event
    retries: Retries
    turns: TurnLengths
    clock: Callable[[], float]
    token: str = ""
    held: HeldJob | None = None
    searched: bool = False  # since the last try: two searches that press have a verdict of others between them

    def serve(self) -> None:
        """Work until `stop` is set, then end the searches that wait; sleep while there is nothing to do."""
        with closing(self.lock):
            self._serve_all()
            self.search()

    def _serve_all(self) -> None:
        stumbles = 0
        while not self.stop.is_set():
            calls = self.wake_up.calls
            try:
                idle = not (self._search_first() or self._serve_one() or self._search_one())
                stumbles = 0
            except Exception as fault:  # noqa: BLE001 - nothing may end the worker; the keeper finds what it was holding
                self.token = ""
                self._rest(fault, stumbles)
                stumbles += 1
                continue
            if idle and not self.stop.is_set():
                self.token = ""
                self.wake_up.wait(calls)

    def serve_one(self, id: SubmissionId) -> None:
        """Grade this job, which was delivered to this worker, alone if it was killed before; then search for causes.

        Raises:
            StoreUnavailable: the database does not answer; whoever looks after the queue has the job delivered again.
        """
        try:
            with self.lock.alone() if self.jobs.was_killed(id) else self.lock.together():
                self.token = secrets.token_hex(8)
                self._work_on(self.jobs.take_one(id, self.token))
        finally:
            self.token = ""
        self.search()

    def search(self) -> None:
        """Search for causes as long as nobody waits for a verdict; once `stop` is set, for all that are left."""
        while self._search_first():
            pass

    def yield_turn(self) -> None:
        """Stop the current try if it has had its time; it is queued again behind those who wait."""
        held = self.held
        if held is not None and self.seconds > self.turns.seconds(held.claim.exercise, held.claim.tries):
            held.let_others_go_first()

    def _rest(self, fault: Exception, stumbles: int) -> None:
        seconds = self.retries.rests[min(stumbles, len(self.retries.rests) - 1)]
        with suppress(Exception):  # there may be no memory left to say it with
            LOG.error("a worker could not reach the queue, next look in %s s: %r", seconds, fault, exc_info=fault)
        self.stop.wait(seconds)

    def _search_first(self) -> bool:
        """Search for the oldest cause unless others wait for a verdict; return whether there was one to look for."""
        search = self.searches.next
        return search is not None and not self._others_first(search) and self._search_one()

    def _others_first(self, search: Search) -> bool:
        """Return whether to put one off: others wait for a verdict, or the database would not take what is found.

        Others are those of the same class or a better one: who is in no class waits for everybody, members for members.
        One that has waited for long has a turn with those of its own class, but never before a better one.
        Once `stop` is set, also while the database is asked, nothing is put off.
        """
        outside, waits = search.claim.outside, partial(self.jobs.newcomers, self.queue)
        try:
            others = waits(members=not outside)
            if others and self.searches.pressing(search) and not self.searched:
                others = outside and waits(members=True)
        except StoreUnavailable:
            others = True
        return others and not self.stop.is_set()

    def _search_one(self) -> bool:
        with self.searches.busy():
            search = self.searches.take()
            if search is None:
                return False
            # What was killed before may take its neighbours with it here as well.
            with self.lock.alone() if search.claim.kills else self.lock.together(), logged_for(search.claim.id):
                begun = time.monotonic()
                self._complete(search, search.complete)
                self._charge(search, time.monotonic() - begun)
        self.searched = True
        return True

    def _charge(self, search: Search, seconds: float) -> None:
        self.searches.took(search, seconds)
        try:
            self.jobs.charge(search.claim, seconds)
        except Exception as fault:  # noqa: BLE001 - seconds that are not counted cost less than the searches behind it
            LOG.warning("the search for the cause in %s could not be charged for: %s", search.claim.id, fault)

    def _serve_one(self) -> bool:
        """Grade the next job, alone if it was killed before; return whether to look for another one at once."""
        alone = self.jobs.next_was_killed(self.queue)
        # Before the claim: a process that is killed must hold no job that only waits to be alone.
        with self.lock.alone() if alone else self.lock.together():
            self.token = secrets.token_hex(8)
            claim = self.jobs.take(self.queue, self.token, alone=alone)
            self._work_on(claim)
        return claim is not None or alone

    def _work_on(self, claim: Claim | None) -> None:
        if claim is not None:
            with logged_for(claim.id):
                self._work(claim)

    def _work(self, claim: Claim) -> None:
        self.searched = False
        if claim.kills > self.retries.kills:
            self._tell_killed(claim)
            return
        if claim.tries > self.retries.tries:
            self._give_up(claim, RuntimeError(f"it was taken {claim.tries} times and never came to an end"))
            return
        with self.live.grading(claim.id) as tracker:
            tracker.alone = claim.kills > 0
            self.live.moved(claim.id)
            self.held = HeldJob(claim, tracker, self.clock())
            try:
                self._settle(claim, self._graded(claim, tracker), tracker.complete)
            except StoreUnavailable:
                raise  # it could not be noted down either; the keeper hands the job back
            except Exception as fault:  # noqa: BLE001 - whatever it is, it is ours: what a submission does ends up in its report
                self._ended_by(claim, tracker.cancel.reason or fault)  # what is killed may fail in any way
            finally:
                self.held = None
        self.live.moved(claim.id)

    def _ended_by(self, claim: Claim, fault: Exception) -> None:
        """Do what has to be done after a try without a report."""
        match fault:
            case Cancelled():
                LOG.info("submission %s was cancelled while it ran", claim.id)
            case Preempted():
                self.jobs.step_back(claim)
            case Killed():
                LOG.warning("try %d of %s is repeated, with nothing beside it: %s", claim.tries, claim.id, fault)
                self.jobs.retry_alone(claim)
            case _ if not self.stop.is_set():  # whoever stops us hands the job back
                self._excuse(claim, fault)

    def _tell_killed(self, claim: Claim) -> None:
        """Store the verdict on what was killed alone as well."""
        LOG.warning("submission %s was killed %d times, the last time alone: out of memory", claim.id, claim.kills)
        self._store(claim, self._blank(claim, Status.MEMORY, KILLED))
        self.live.moved(claim.id)

    def _graded(self, claim: Claim, tracker: LiveTracker) -> Report | None:
        """Return the report; None if the submission was deleted together with its owner."""
        submission = self.jobs.submission(claim)
        return None if submission is None else self.grade(submission, tracker)

    def _settle(self, claim: Claim, report: Report | None, complete: Complete | None) -> None:
        """Store a report, and keep what completes it for later.

        One that tells of a fault of ours is put off as long as another try may do better.
        """
        if report is None:
            return
        if self._another_try_may_help(claim, report):
            self._put_off(claim, f"its report tells of a fault of ours {report.incident}")
            return
        with self.searches.busy():  # a drain waits for it, though the job has gone from its table
            stored = self._store(claim, report)
            if stored is not None and complete is not None:
                late = self.searches.put(Search(claim=claim, stored=stored, verdict=report, complete=complete))
                if late is not None:
                    self._complete(late, lambda _: late.verdict.given_up())

    def _another_try_may_help(self, claim: Claim, report: Report) -> bool:
        return report.faulty and claim.faults < len(self.retries.pauses)

    def _complete(self, search: Search, complete: Complete) -> None:
        """Add to a stored verdict what is found out now; without a database the verdict stands as it is."""
        id = search.claim.id
        try:
            report = complete(self.searches.cancel)
        except Exception as fault:
            LOG.warning("the search for the cause in submission %s ended early: %r", id, fault, exc_info=fault)
            report = search.verdict.given_up()
        report, body = written(report)
        try:
            self._offered(search.claim, partial(self.jobs.complete, search.stored, report, body, submission=id))
        except Exception as fault:  # noqa: BLE001 - the worker has more to do, and the verdict stands
            LOG.warning("the cause found for %s could not be stored: %r", id, fault)
        self.live.moved(id)

    @property
    def seconds(self) -> float:
        """Return how long the job in hand has been here; by this process's clock, which may not be the database's."""
        return self.clock() - self.held.began if self.held else 0.0

    def _store(self, claim: Claim, report: Report) -> GradingId | None:
        if report.status is Status.GRADED:
            self.turns.note(claim.exercise, self.seconds)
        report, body = written(report)
        grading = Grading(
            report=report,
            body=body,
            versions=self.versions(claim.exercise),
            created=self.clock(),
            reason=claim.reason,
            try_number=claim.tries,
        )
        stored = self._offered(claim, partial(self.jobs.finish, claim, grading))
        if stored is None:
            LOG.info("try %d of submission %s came too late; its result is dropped", claim.tries, claim.id)
        return stored

    def _offered(self, claim: Claim, store: Callable[[], Stored]) -> Stored:
        """Store something, offering it again after each pause.

        Raises:
            StoreUnavailable: the database did not take it after the last pause either.
        """
        for pause in self.retries.pauses:
            try:
                return store()
            except StoreUnavailable as fault:
                LOG.warning("the report on %s could not be stored, next in %s s: %s", claim.id, pause, fault)
                self.stop.wait(pause)
        return store()

    def _excuse(self, claim: Claim, fault: Exception) -> None:
        if claim.faults >= len(self.retries.pauses):
            self._give_up(claim, fault)
        else:
            self._put_off(claim, repr(fault), fault)

    def _put_off(self, claim: Claim, why: str, fault: Exception | None = None) -> None:
        pause = self.retries.pauses[claim.faults]
        LOG.warning("try %d of %s failed, next in %s s: %s", claim.tries, claim.id, pause, why, exc_info=fault)
        self.jobs.retry(claim, pause)

    def _give_up(self, claim: Claim, fault: Exception) -> None:
        incident = record(LOG, f"submission {claim.id} is broken", fault)
        report = self._blank(claim, Status.UNGRADABLE, APOLOGY.format(incident=incident))
        self._store(claim, replace(report, incident=incident))

    def _blank(self, claim: Claim, status: Status, reason: str) -> Report:
        """Return a report without checks."""
        return Report(claim.exercise, status, 0.0, claim.seed, claim.device, self.seconds, reason=reason)
