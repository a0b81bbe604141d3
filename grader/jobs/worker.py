"""One worker: takes a job, has it graded, stores the verdict, and takes the next; causes while nobody waits.

A fault of ours never ends as the student's. What fails while it is graded is tried again after a pause, and stored as
broken, under an incident, where it stays. A verdict that the database does not take is kept and offered again; where
that stays too, the job goes back into the queue as if nobody had taken it.

The search for a cause comes after the verdict, when nobody waits for a verdict whose class comes first. A member's
search waits for members only: visitors cost nothing to make, and some of them can always wait. One of somebody outside
waits for everybody. What an answer gave is kept in memory meanwhile: 0.3 MB in the median of all exercises, at most
1.5 MB but for one that trains on 3 MB.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import TypeVar

from grader.box.cancel import CancelToken
from grader.errors import Killed, logged_for, record
from grader.jobs.live import Live
from grader.jobs.locks import RunLock
from grader.jobs.queue import Cancelled, Claim, Complete, Grade, Preempted, Tracker, VersionsOf
from grader.jobs.table import TableJobs
from grader.judge.report import Report, Status
from grader.store.engine import StoreUnavailable
from grader.store.gradings import Grading
from grader.store.records import GradingId

LOG = logging.getLogger(__name__)
Stored = TypeVar("Stored")
MOST_WAITING = 64  # searches
PRESSING_SECONDS = 30.0  # a search that waits longer is made after one more verdict
MEDIAN_OF = 9  # the last gradings of an exercise, whose median says how long a turn is
TURN_MEDIANS = 3.0  # a turn is that many times this median
TURN_LEAST, TURN_MOST = 0.3, 4.0  # times the turn of an exercise of which nothing is known
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


@dataclass(frozen=True, slots=True)
class Retries:
    """What happens after a fault of ours, and to a try that takes long.

    Attributes:
        pauses: seconds to wait before each further try; after the last one the submission is broken.
        tries: how often a job may be taken in all; more, and it is what kills its workers.
        kills: how often what runs a job may be killed, its sandbox, its grading process or the whole service, before it
            is told as out of memory.
        rests: seconds that a worker pauses after its first, second, … failure in a row to reach the database; the
            last for all that follow.
        quick_seconds: what a first try has before others go first, as long as nothing is known of its exercise.
    """

    pauses: tuple[float, ...] = (1.0, 5.0)
    tries: int = 12
    kills: int = 1
    rests: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 15.0)
    quick_seconds: float = 1.0


class TurnLengths:
    """How long a try of each exercise may hold a worker of this process while newcomers wait; the workers share it.

    That is a few times as long as others of that exercise took here. An endless loop at an exercise that takes a tenth
    of a second gives way after a third of a second, and an honest answer to one that trains is not begun twice.
    """

    def __init__(self, first: float) -> None:
        """Give `first` seconds to each exercise of which nothing is known yet."""
        self._first = first
        self._took: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def note(self, exercise: str, seconds: float) -> None:
        """Remember how long a grading took, from the claim to the verdict."""
        with self._lock:
            self._took.setdefault(exercise, deque(maxlen=MEDIAN_OF)).append(seconds)

    def seconds(self, exercise: str, tries: int) -> float:
        """Return what a try has before others go first; each further one has twice as long, `tries` with this one."""
        with self._lock:
            took = tuple(self._took.get(exercise, ()))
        least, most = TURN_LEAST * self._first, TURN_MOST * self._first
        turn = min(max(TURN_MEDIANS * median(took), least), most) if took else self._first
        return float(turn * 2.0 ** (tries - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is to be found out after a verdict.

    Attributes:
        claim: the try that reached the verdict.
        stored: the grading to which the cause is added.
        verdict: the report as it is stored.
        complete: returns the report with what was found out.
    """

    claim: Claim
    stored: GradingId
    verdict: Report
    complete: Complete
    since: float = field(default_factory=time.monotonic)


class Searches:
    """Those that wait of one queue in one process; every method may be called from any thread.

    Members' come first, and then whose payer had the fewest seconds of searches since the last time that none waited.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: list[Search] = []
        self._used: dict[str, float] = {}  # seconds, by payer
        self._busy = 0
        self.cancel = CancelToken()  # ends those that run, and those that are taken later

    def put(self, search: Search) -> Search | None:
        """Keep a search for later; return one that is not kept: where too many of those outside wait, the last of most.

        Those of members are made before too many wait, but others' have no turn as long as members come.
        """
        with self._lock:
            self._waiting.append(search)
            outside = [one for one in self._waiting if one.claim.outside]
            if not search.claim.outside or len(outside) <= MOST_WAITING:
                return None
            number = Counter(one.claim.payer for one in outside)
            late = max(outside, key=lambda one: (number[one.claim.payer], one.since))
            self._waiting.remove(late)
            return late

    @property
    def next(self) -> Search | None:
        """The one that is next, None if there is none."""

        def turn(search: Search) -> tuple[bool, float, float]:
            return search.claim.outside, self._used.get(search.claim.payer, 0.0), search.since

        with self._lock:
            return min(self._waiting, key=turn, default=None)

    def take(self) -> Search | None:
        """Return the one that is next, and keep it no longer; None if there is none."""
        with self._lock:
            if (search := self.next) is not None:
                self._waiting.remove(search)
            return search

    def took(self, search: Search, seconds: float) -> None:
        """Note how long one has taken."""
        with self._lock:
            payer = search.claim.payer
            self._used[payer] = self._used.get(payer, 0.0) + seconds
            if not self._waiting:
                self._used.clear()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count as open during the block, in which one is made, or may be put."""
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def pressing(self, search: Search) -> bool:
        """Return whether it should be made before the next verdict: too many wait, or it waits for too long."""
        with self._lock:
            return len(self._waiting) > MOST_WAITING or time.monotonic() > search.since + PRESSING_SECONDS

    @property
    def open(self) -> bool:
        """Whether one waits, is made, or may be put at any moment."""
        with self._lock:
            return bool(self._waiting or self._busy)


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job that a worker has since `began`, in seconds since the epoch, and has no verdict on yet."""

    claim: Claim
    tracker: Tracker
    began: float


@dataclass(slots=True, kw_only=True)
class Worker:
    """A slot in which one job is graded at a time; `token` names the claim that it holds, or is about to make."""

    queue: str
    jobs: TableJobs
    grade: Grade
    versions: VersionsOf
    live: Live
    searches: Searches
    lock: RunLock
    stop: threading.Event
    retries: Retries
    turns: TurnLengths
    clock: Callable[[], float]
    token: str = ""
    held: HeldJob | None = None
    searched: bool = False  # since the last try: two searches that press have a verdict of others between them

    def work(self) -> None:
        """Grade and search as long as there is something to do; once `stop` is set, only end the searches that wait.

        Raises:
            StoreUnavailable: the database does not answer; whoever looks after the queue takes back what was held.
        """
        while not self.stop.is_set() and self._do_one_thing():
            pass
        while self.stop.is_set() and self._search_next():
            pass

    def _do_one_thing(self) -> bool:
        """Make a search that may not wait, else a grading, else any search; return whether there was one."""
        return self._search_next(unless_others_wait=True) or self._grade_next() or self._search_next()

    def yield_turn(self) -> None:
        """Stop the current try if it has had its time; it is queued again behind those who wait."""
        held = self.held
        if held is not None and self.seconds > self.turns.seconds(held.claim.exercise, held.claim.tries):
            held.tracker.cancel.cancel(Preempted(f"submission {held.claim.id} lets others go first"))

    @property
    def taking(self) -> bool:
        """Whether it is about to hold a job; its claim may not be in the table yet."""
        return bool(self.token) and self.held is None

    @property
    def seconds(self) -> float:
        """How long the job in hand has been here; by this process's clock, which may not be the database's."""
        return self.clock() - self.held.began if self.held else 0.0

    def _grade_next(self) -> bool:
        """Grade the next job, alone if it was killed before; return whether to look for another one at once."""
        alone = self.jobs.next_was_killed(self.queue)
        # Before the claim: a process that is killed must hold no job that only waits to be alone.
        with self.lock.alone() if alone else self.lock.together():
            self.token = secrets.token_hex(8)
            try:
                claim = self.jobs.take(self.queue, self.token, alone=alone)
                if claim is not None:
                    self._settle(claim)
            finally:
                self.token = ""
        return claim is not None or alone

    def _settle(self, claim: Claim) -> None:
        """Bring a try to whatever end it comes to."""
        self.searched, id = False, claim.id
        with logged_for(id):
            if claim.kills > self.retries.kills:
                LOG.warning("submission %s was killed %d times, the last time alone: out of memory", id, claim.kills)
                self._store(claim, self._blank(claim, Status.MEMORY, KILLED))
            elif claim.tries > self.retries.tries:
                self._give_up(claim, RuntimeError(f"it was taken {claim.tries} times and never came to an end"))
            else:
                self._try(claim)
        self.live.moved(id)

    def _try(self, claim: Claim) -> None:
        with self.live.grading(claim.id) as tracker:
            tracker.alone = claim.kills > 0
            self.live.moved(claim.id)
            self.held = HeldJob(claim, tracker, self.clock())
            try:
                submission = self.jobs.submission(claim)
                if submission is not None:  # else it was deleted together with its owner
                    report = self.grade(submission, tracker)
                    self._take_verdict(claim, report, tracker.complete)
            except StoreUnavailable:
                raise  # it could not be noted down either; the keeper hands the job back
            except Exception as fault:  # noqa: BLE001 - whatever it is, it is ours: what a submission does ends up in its report
                self._end_without_verdict(claim, tracker.cancel.reason or fault)  # what is killed may fail in any way
            finally:
                self.held = None

    def _take_verdict(self, claim: Claim, report: Report, complete: Complete | None) -> None:
        """Store a report, and keep what completes it for later.

        One that tells of a fault of ours is put off as long as another try may do better.
        """
        if report.faulty and claim.faults < len(self.retries.pauses):
            self._put_off(claim, f"its report tells of a fault of ours {report.incident}")
            return
        with self.searches.busy():  # a drain waits for it, though the job has gone from its table
            stored = self._store(claim, report)
            if stored is None or complete is None:
                return
            late = self.searches.put(Search(claim=claim, stored=stored, verdict=report, complete=complete))
            if late is not None:
                self._complete(late, lambda _: late.verdict.given_up())

    def _end_without_verdict(self, claim: Claim, fault: Exception) -> None:
        match fault:
            case Cancelled():
                LOG.info("submission %s was cancelled while it ran", claim.id)
            case Preempted():
                self.jobs.step_back(claim)
            case Killed():
                LOG.warning("try %d of %s is repeated, with nothing beside it: %s", claim.tries, claim.id, fault)
                self.jobs.step_back(claim, killed=True)
            case _ if self.stop.is_set():
                pass  # whoever stops us hands the job back
            case _ if claim.faults >= len(self.retries.pauses):
                self._give_up(claim, fault)
            case _:
                self._put_off(claim, repr(fault), fault)

    def _put_off(self, claim: Claim, why: str, fault: Exception | None = None) -> None:
        pause = self.retries.pauses[claim.faults]
        LOG.warning("try %d of %s failed, next in %s s: %s", claim.tries, claim.id, pause, why, exc_info=fault)
        self.jobs.retry(claim, pause)

    def _give_up(self, claim: Claim, fault: Exception) -> None:
        incident = record(LOG, f"submission {claim.id} is broken", fault)
        self._store(claim, self._blank(claim, Status.UNGRADABLE, APOLOGY.format(incident=incident), incident))

    def _blank(self, claim: Claim, status: Status, reason: str, incident: str = "") -> Report:
        return Report(
            claim.exercise, status, 0.0, claim.seed, claim.device, self.seconds, reason=reason, incident=incident
        )

    def _store(self, claim: Claim, report: Report) -> GradingId | None:
        if report.status is Status.GRADED:
            self.turns.note(claim.exercise, self.seconds)
        report, body = as_json(report)
        grading = Grading(
            report=report, body=body, versions=self.versions(claim.exercise),
            created=self.clock(), reason=claim.reason, try_number=claim.tries,
        )  # fmt: skip
        stored = self._offer(claim, partial(self.jobs.finish, claim, grading))
        if stored is None:
            LOG.info("try %d of submission %s came too late; its result is dropped", claim.tries, claim.id)
        return stored

    def _offer(self, claim: Claim, store: Callable[[], Stored]) -> Stored:
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

    def _search_next(self, *, unless_others_wait: bool = False) -> bool:
        """Search for the next cause; return whether that was done."""
        if unless_others_wait and ((search := self.searches.next) is None or self._others_first(search)):
            return False
        with self.searches.busy():
            search = self.searches.take()
            if search is None:
                return False
            # What was killed before may take its neighbours with it here as well.
            with self.lock.alone() if search.claim.kills else self.lock.together(), logged_for(search.claim.id):
                begun = time.monotonic()
                self._complete(search, search.complete)
                seconds = time.monotonic() - begun
                self.searches.took(search, seconds)
                try:
                    self.jobs.charge(search.claim, seconds)
                except Exception as fault:  # noqa: BLE001 - seconds that are not counted cost less than the searches behind it
                    LOG.warning("the search for the cause in %s could not be charged for: %s", search.claim.id, fault)
        self.searched = True
        return True

    def _complete(self, search: Search, complete: Complete) -> None:
        """Add to a stored verdict what is found out now; without a database the verdict stands as it is."""
        id = search.claim.id
        try:
            report = complete(self.searches.cancel)
        except Exception as fault:
            LOG.warning("the search for the cause in submission %s ended early: %r", id, fault, exc_info=fault)
            report = search.verdict.given_up()
        report, body = as_json(report)
        try:
            self._offer(search.claim, partial(self.jobs.complete, search.stored, report, body, submission=id))
        except Exception as fault:  # noqa: BLE001 - the worker has more to do, and the verdict stands
            LOG.warning("the cause found for %s could not be stored: %r", id, fault)
        self.live.moved(id)


def as_json(report: Report) -> tuple[Report, str]:
    """Return a report with its JSON; where it cannot be written whole, without all that no point depends on."""
    try:
        return report, report.to_json()
    except Exception as fault:  # noqa: BLE001 - whatever a writer of JSON trips over is no reason to lose a verdict
        incident = record(LOG, f"a report on {report.exercise} could not be written as JSON", fault)
    note = f"part of this report is missing because of an error in the grader ({incident})"
    bare = replace(report.bare(), advice=(note,))
    return bare, bare.to_json()
