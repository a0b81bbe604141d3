"""The service: everything that the pages and the command line can ask for, in plain values.

Each method checks by itself whether the person may; a face only passes on what it was asked. All but `watch` block for
a moment, `register` and `sign_in` for about 30 ms.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from argon2 import PasswordHasher

from grader.errors import GraderFault, NotAllowed, logged_for
from grader.exercise.catalog import STILL_THE_STARTER, Catalog
from grader.jobs import shares
from grader.jobs.table import Queue
from grader.jobs.tryouts import Tryouts
from grader.service.accounts import Accounts, OwnAccount
from grader.service.authorize import NOT_YOURS
from grader.service.classes import work
from grader.service.classes.answers import Classes
from grader.service.classes.requests import SourceGrading
from grader.service.classroom import BoardNames, Classrooms
from grader.service.hidden import Seals
from grader.service.limits import limiters, payer
from grader.service.student import Drafts, Trail
from grader.service.tryouts import TryoutService
from grader.store import keys, standings, submissions, turns
from grader.store.engine import Database, server_time
from grader.store.records import Attempt, Role, Submission, SubmissionId, User, Watch

LOG = logging.getLogger(__name__)
ID = re.compile(r"[0-9A-Za-z_.-]{1,40}")
AGAIN_SECONDS = 3600.0  # from one look through the whole database to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an installation allows, and what it keeps to itself.

    Attributes:
        class_code: what somebody who joins the initial class has to know, until an instructor replaces it.
        secret: what seeds are drawn from.
        slots: how many submissions are graded at once on each device.
        source_bytes: the longest source that is taken.
        session_seconds: how long a session lasts.
        drain_seconds: how long a stop waits for what is being graded.
    """

    class_code: str
    secret: bytes
    slots: dict[str, int]
    source_bytes: int = 256 << 10
    session_seconds: float = 12 * 3600.0
    drain_seconds: float = 20.0

    @property
    def all_slots(self) -> int:
        """How many submissions are graded at once on all devices together."""
        return sum(self.slots.values())

    def __repr__(self) -> str:
        return f"Rules(slots={dict(self.slots)})"


class Service:
    """The exercises, the classes, and what is handed in; nothing runs before `start`.

    What belongs to another person is refused as if it were not there (`NotAllowed`), but to who teaches them.

    Args:
        database: up to date.
        queue: delivers what is submitted to be graded.
        tryouts: runs what is only tried.
        box_name: what the grading runs in, in words; empty until that is known, see `settle`.
        closing: called last at a stop.
    """

    def __init__(
        self,
        database: Database, catalog: Catalog, queue: Queue, *, tryouts: Tryouts, rules: Rules, box_name: str = "",
        hasher: PasswordHasher | None = None, clock: Callable[[], float] = time.time,
        closing: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.catalog, self.box_name = catalog, box_name
        self._database, self._queue, self._closing = database, queue, closing
        self._rules, self._clock, self._drained = rules, clock, False
        self.accounts = accounts = Accounts(
            database, class_code=rules.class_code, secret=rules.secret, session_seconds=rules.session_seconds,
            hasher=hasher, clock=clock,
        )  # fmt: skip
        self.own_account = OwnAccount(accounts, database, queue, secret=rules.secret, clock=clock)
        self._classrooms = Classrooms(accounts, database, clock=clock)
        self.boards = BoardNames(database, rules.secret)
        self.drafts = Drafts(database, catalog, longest=rules.source_bytes, clock=clock)
        self._seals = Seals(database, clock)
        self.trail = Trail(database, self.submission, self._seals, clock=clock)
        self.tryouts = TryoutService(catalog, tryouts, self._all_slots, limiters(database, clock))
        self.condition = Condition(database, queue, catalog)
        self.classes = Classes(database, clock=clock, grading=SourceGrading(queue, catalog, rules.secret))
        # What everybody asks for is found here as well.
        self.register, self.add_user, self.sign_in = accounts.register, accounts.add, accounts.sign_in
        self.begin_session, self.mark = accounts.begin_session, accounts.mark
        self.user_of, self.sign_out = accounts.sessions.user_of, accounts.sessions.end
        self.leaderboard, self.classroom = self.boards.leaderboard, self._classrooms.open

    @property
    def class_code(self) -> str:
        """What somebody who joins the initial class has to know; for the console of whoever starts the service."""
        return self.accounts.class_code()

    def _all_slots(self) -> int:
        return self._rules.all_slots + sum(self._queue.elsewhere().values())

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices on which this installation grades, on whatever machine."""
        return tuple(self._rules.slots | self._queue.elsewhere())

    def devices_for(self, exercise: str) -> tuple[str, ...]:
        """Return the devices that a submission to `exercise` may choose from here; of one, there is no choice."""
        here = self.devices
        return tuple(device for device in self.catalog[exercise].spec.devices if device in here)

    def settle(self, box_name: str, slots: dict[str, int]) -> None:
        """Note what the grading turned out to be: what it runs in, and how many at once on each device."""
        self.box_name, self._rules = box_name, replace(self._rules, slots=slots)

    def start(self) -> None:
        """Begin to grade, first of all what a former run has left behind."""
        self._queue.start(self._rules.slots)
        self.condition.look_in_time()

    def drain(self) -> None:
        """Finish what is being graded and hand back the rest; from now on nothing is graded, all else goes on."""
        if not self._drained:
            self._drained = True
            self._queue.drain(self._rules.drain_seconds)

    def stop(self) -> None:
        """Finish what is being graded, hand back the rest, and close everything."""
        self.drain()
        self._closing()
        self._database.close()

    def submit(
        self, user: User, exercise: str, source: str | bytes, device: str = "cpu", *, address: str = ""
    ) -> SubmissionId:
        """Store a submission and put it into the queue; once this has returned, nothing loses it.

        Whoever is in no class is counted by their address.

        Raises:
            NotAllowed: another one of theirs on this exercise is unfinished, or the source is too long or still the
                starter, or the exercise or the device is unknown, or their runs have used too much lately.
            GraderFault: it could not be stored; nothing of it is.
        """
        raw, version = self._checked(exercise, source, device), self.catalog[exercise].version
        id = SubmissionId(secrets.token_hex(12))
        with logged_for(id), self._database.write() as session:
            turns.of_person(session, user.id)
            now = server_time(session, self._clock)
            charged = payer(user, address)
            shares.admit(session, charged, len(raw), now)
            seed = keys.seed_of(self._rules.secret, id)
            submission = Submission(
                id=id, user=user.id, exercise=exercise, exercise_version=version, raw=raw, seed=seed, device=device,
                created=now,
            )  # fmt: skip
            work.store_where_it_counts(session, submission)
            self._queue.submit(session, id, queue=device, priority=round(now * 1000), payer=charged)
        return id

    def cancel(self, user: User, id: SubmissionId) -> None:
        """Take a submission back; it uses up no attempt. One that is finished stays as it is."""
        self._authorize(user, id, Role.INSTRUCTOR)
        self._queue.cancel(id)

    def submission(self, user: User, id: SubmissionId) -> Submission:
        """Return a submission with its report."""
        self._authorize(user, id, Role.INSTRUCTOR, Role.ASSISTANT)
        with self._database.read() as session:
            found = submissions.get(session, id)
            if found is not None and found.user == user.id:
                found = self._seals.submission(session, found)
        if found is None:
            raise NotAllowed(NOT_YOURS)
        return replace(found, report=submissions.settled(found.report, found.finished, self._clock()))

    def unfinished(self, user: User, exercise: str) -> SubmissionId | None:
        """Return the person's submission on the exercise that still waits or runs."""
        if exercise not in self.catalog:
            return None
        with self._database.read() as session:
            return submissions.unfinished(session, user.id, exercise)

    def watch(self, user: User, id: SubmissionId) -> AsyncIterator[Watch]:
        """Yield how far a submission is, at once and at each change, up to its end."""
        self._authorize(user, id, Role.INSTRUCTOR, Role.ASSISTANT)
        return self._seals.watch(user.id, id, self._queue.subscribe(id))

    def attempts(self, user: User, exercise: str | None = None) -> list[Attempt]:
        """Return the person's submissions, newest first."""
        with self._database.read() as session:
            return self._seals.attempts(session, user.id, submissions.attempts(session, user.id, exercise))

    def best(self, user: User) -> dict[str, float]:
        """Return the person's best score on each exercise they have an attempt on."""
        with self._database.read() as session:
            return standings.best(session, user.id)

    def _checked(self, exercise: str, source: str | bytes, device: str) -> bytes:
        raw = source if isinstance(source, bytes) else source.encode(errors="surrogatepass")
        if exercise not in self.catalog:
            raise NotAllowed(f"There is no exercise called {exercise[:64]!r}.")
        if device not in self.devices:
            raise NotAllowed(f"Nothing is graded on {device!r} here; choose one of: {', '.join(self.devices)}.")
        if device not in self.devices_for(exercise):
            raise NotAllowed(f"This exercise is not meant for {device!r}; leave the device at cpu.")
        if len(raw) > (limit := self._rules.source_bytes):
            said = f"The source is too long: {len(raw) >> 10} KiB, where at most {limit >> 10} KiB are allowed."
            raise NotAllowed(said)
        if self.catalog[exercise].is_starter(raw):
            raise NotAllowed(f"{STILL_THE_STARTER} No attempt was used.")
        return raw

    def _authorize(self, user: User, id: SubmissionId, *roles: Role) -> None:
        """Return if it is one's own submission, or if one has a role over it that may do this."""
        if not ID.fullmatch(id):  # no database has to take it
            raise NotAllowed(NOT_YOURS)
        with self._database.read() as session:
            if submissions.owner(session, id) != user.id and work.role_over(session, user.id, id) not in roles:
                raise NotAllowed(NOT_YOURS)


class Condition:
    """What a service needs, and whether it has it.

    A damaged page is noticed by whoever reads it, which may be nobody for weeks. So the file is read from end to end at
    the start, and once an hour as long as somebody asks how things are.
    """

    def __init__(
        self, database: Database, queue: Queue, catalog: Catalog | None = None, *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.database, self.queue, self._exercises = database, queue, [] if catalog is None else list(catalog.values())
        self._clock, self._due, self._damage = clock, float("-inf"), ""

    def missing(self) -> list[str]:
        """Return what keeps submissions from being taken and graded, of `database`, `grading` and `exercises`."""
        self.look_in_time()
        there = {
            "database": self._has_database(),
            "grading": self.queue.grades(),
            "exercises": all(exercise.is_complete for exercise in self._exercises),
        }
        return [name for name, is_there in there.items() if not is_there]

    def look_in_time(self) -> None:
        """Have the database looked through, beside everything else, if it is time."""
        now = self._clock()
        if self.database.embedded and now >= self._due:
            self._due = now + AGAIN_SECONDS
            threading.Thread(target=self.look, daemon=True, name="look through the database").start()

    def look(self) -> None:
        """Look through the database for damage; what is found is logged once."""
        try:
            found = self.database.examine()
        except GraderFault:
            return  # it is away, which is told elsewhere
        if found and found != self._damage:
            LOG.error("%s", found)
        self._damage = found

    def _has_database(self) -> bool:
        return not self._damage and self.database.answers()
