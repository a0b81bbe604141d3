"""Several write at once, in two processes' worth of parts on one database: each decision is as if they came in turn."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select

from grader.errors import NotAllowed
from grader.exercise.catalog import Catalog
from grader.jobs import archive, claims, shares
from grader.jobs.live import Live
from grader.jobs.table import Queue
from grader.jobs.tryouts import TryoutThread
from grader.judge.report import Report, Status
from grader.service import Service
from grader.service.accounts import Accounts
from grader.service.authorize import INSTRUCTORS_ONLY
from grader.service.service import Rules
from grader.service.student import Drafts
from grader.store import migrate, people, standings, submissions, tokens
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Draft, Role, Submission, SubmissionId, User
from grader.store.tables import INITIAL_CLASS, GradingFilesRow, JobRow, SubmissionRow
from tests.jobs import postgres
from tests.jobs.classroom import take

KEY = "the-class"  # of the initial class
ROUNDS = range(10)
PASSWORD = "correct horse"
CHOSEN = ("softmax", "padding_mask", "causal_attention")
FULL = Report(exercise="softmax", status=Status.GRADED, score=100.0, seed=1, device="cpu", seconds=0.0)
VERSIONS = Versions(exercise="v1", grader="g1", torch="2")


@dataclass
class Site:
    """What two processes have: a database each, opened at the same place, and the parts of the service on it."""

    databases: tuple[Database, Database]
    catalog: Catalog
    ids: Iterator[int] = field(default_factory=itertools.count)

    def people(self, process: int) -> Accounts:
        hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        return Accounts(
            self.databases[process],
            class_code="green-tree", secret=b"secret", session_seconds=3600.0, hasher=hasher, clock=time.time,
        )  # fmt: skip

    def person(self, role: Role = Role.STUDENT) -> User:
        name = f"person {next(self.ids)}"
        with self.databases[0].write() as session:
            return people.add(session, name, role, key=name, password="hash", now=1.0)

    def hand_in(self, user: User, exercise: str, process: int = 0) -> SubmissionId:
        id = SubmissionId(f"{next(self.ids):024x}")
        made = Submission(
            id=id, user=user.id, exercise=exercise, exercise_version="v1", seed=1, device="cpu", created=1.0, raw=b"x",
        )  # fmt: skip
        with self.databases[process].write() as session:
            submissions.add(session, made)
            claims.enqueue(session, id, queue="cpu", priority=1, ready=0.0)
        return id

    def service(self, process: int, clock: Callable[[], float] = time.time, **rules: Any) -> Service:
        database = self.databases[process]
        return Service(
            database,
            self.catalog,
            Undelivered(database, Live(), clock),
            tryouts=TryoutThread(lambda request: request.example),
            rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}, **rules),
            box_name="nothing at all",
            hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
            clock=clock,
        )


class Undelivered(Queue):
    def run(self, slots: Mapping[str, int]) -> None:
        """Start nobody."""

    def wake(self, queue: str) -> None:
        """Wake nobody."""

    def interrupt(self, id: SubmissionId) -> None:
        """Find nothing to end."""

    def drain(self, seconds: float) -> bool:
        return True


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, catalog: Catalog) -> Iterator[Site]:
    if request.param == "sqlite":
        yield from _site(f"sqlite:///{tmp_path_factory.mktemp('turns') / 'class.sqlite3'}", catalog)
        return
    with postgres.served() as server:
        yield from _site(postgres.make_database(server, "turns"), catalog)


def _site(url: str, catalog: Catalog) -> Iterator[Site]:
    pair = Database(url), Database(url)
    migrate.upgrade(pair[0])
    yield Site(pair, catalog)
    for database in pair:
        database.close()


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Make all calls at once, each in a thread; return what each returned or raised."""
    gate, found = threading.Barrier(len(calls)), [None] * len(calls)

    def make(place: int, call: Callable[[], Any]) -> None:
        gate.wait()
        try:
            found[place] = call()
        except Exception as error:  # noqa: BLE001 - the test looks at all of them
            found[place] = error

    threads = [threading.Thread(target=make, args=one) for one in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_of_fifty_hand_ins_with_room_for_three_there_are_three(site: Site) -> None:
    """One person's, at once and in two processes: what is left of the disk is counted where they are stored."""
    ada, source, disk = site.person(), "#" * (256 << 10), shares.MEMBER.kib
    left = 3.5 * (256 + shares.REPORT_KIB)
    with site.databases[0].write() as session:
        stored = f"stored {shares.member(ada.id)}"
        tokens.spent(session, stored)
        tokens.keep(session, stored, disk, tokens.Spent(disk.burst - left, time.time() + 600))
    exercises = sorted(site.catalog)[:25]
    services = [site.service(process) for process in (0, 1)]
    calls = [
        lambda service=service, exercise=exercise: service.submit(ada, exercise, source)
        for exercise in exercises
        for service in services
    ]

    found = together(*calls)

    with site.databases[0].read() as session:
        stored = [one.id for one in submissions.attempts(session, ada.id)]
    assert len(calls) == 50
    assert sorted(one for one in found if isinstance(one, str)) == sorted(stored)
    assert len(stored) == 3
    assert all(isinstance(one, NotAllowed | str) for one in found)


def test_of_two_names_that_look_alike_one_is_taken(site: Site) -> None:
    """Both come at once, in two processes; the second is refused as if it had come later."""
    for turn in ROUNDS:
        found = together(
            lambda turn=turn: site.people(0).add(f"Bill{turn}", PASSWORD, Role.STUDENT),
            lambda turn=turn: site.people(1).add(f"BilI{turn}", PASSWORD, Role.STUDENT),
        )

        assert {type(one) for one in found} == {User, NotAllowed}


WAYS: dict[str, Callable[[Service, User, User], None]] = {
    "removes the other": lambda service, one, other: service.classroom(other).remove(one.id),
    "leaves": lambda service, one, _: service.own_account.leave(one, KEY),
    "deletes the account": lambda service, one, _: service.own_account.delete(one, PASSWORD, ""),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_last_instructor_stays(site: Site, way: Callable[[Service, User, User], None]) -> None:
    """Two instructors go at once: one of them is left each time, and told why."""
    site.person()
    first, second = (site.service(process) for process in (0, 1))
    for _ in ROUNDS:
        ada, eve = (site.people(0).add(f"person {next(site.ids)}", PASSWORD, Role.INSTRUCTOR) for _ in "ae")
        found = together(lambda: way(first, ada, eve), lambda: way(second, eve, ada))  # noqa: B023 - made at once
        with site.databases[0].read() as session:
            present = [one.role for one in people.members(session, INITIAL_CLASS) if one.ended is None]
            left = present.count(Role.INSTRUCTOR)
        with site.databases[0].write() as session:
            for one in (ada, eve):
                people.delete_person(session, one.id)

        assert [str(one) in (people.LAST, INSTRUCTORS_ONLY) for one in found if one] == [True]
        assert left == 1


def test_attempts_are_numbered_without_a_gap(site: Site) -> None:
    """Twelve threads hand in and cancel; no number is given twice, and none is left out."""
    ada = site.person()

    def until_stored() -> None:
        while True:
            try:
                id = site.hand_in(ada, "numbers")
            except NotAllowed:
                continue  # another one is still open
            with site.databases[1].write() as session:
                claims.cancel(session, id, now=2.0)
            return

    found = together(*[until_stored] * 12)

    with site.databases[0].read() as session:
        numbers = session.scalars(select(SubmissionRow.number).where(SubmissionRow.user_id == ada.id)).all()
    assert found == [None] * 12
    assert sorted(numbers) == list(range(1, 13))


def test_of_several_devices_one_stores_its_draft(site: Site) -> None:
    """The first draft, and then a change of the same draft: one is stored, the others are given that one."""
    for _ in ROUNDS:
        ada, base = site.person(), 0.0
        for text in ("first", "second"):
            drafts = [Drafts(one, ["softmax"], longest=1000, clock=time.time) for one in site.databases]
            found = together(
                *[lambda n=n: drafts[n % 2].keep(ada, "softmax", f"{text} {n}", base) for n in range(4)]  # noqa: B023
            )
            kept = drafts[0].of(ada, "softmax")

            assert isinstance(kept, Draft)
            assert found == [kept] * 4
            base = kept.saved


def test_joining_twice_at_once_is_joining(site: Site) -> None:
    """A click too many breaks nothing."""
    for _ in ROUNDS:
        eve = site.person(Role.LEARNER)
        found = together(*[lambda n=n: site.people(n % 2).join(eve, "green-tree") for n in range(4)])  # noqa: B023

        assert found == [None] * 4


def test_a_verdict_and_a_cancel_at_once_do_not_stop_each_other(site: Site) -> None:
    """One of them comes first, and the other is told that nothing is left to do."""
    ada = site.person()
    for turn in ROUNDS:
        id = site.hand_in(ada, f"race {turn}")
        with site.databases[0].write() as session:
            claim = take(session, id, worker="w", token=f"t{turn}", now=1.0)
        assert claim is not None

        def end(claim: claims.Claim = claim) -> bool:
            with site.databases[0].write() as session:
                return claims.finish(session, claim, Grading.of(FULL, VERSIONS, 2.0)) is not None

        def cancel(id: SubmissionId = id) -> bool:
            with site.databases[1].write() as session:
                return claims.cancel(session, id, now=2.0)

        assert sorted(together(end, cancel)) == [False, True]


def test_what_a_visitor_hands_in_while_registering_is_refused_or_kept(site: Site) -> None:
    """Nothing that was taken is lost together with the visitor."""
    for _ in ROUNDS:
        visitor, owner = site.person(Role.LEARNER), site.person()
        stored = site.hand_in(visitor, "before")

        def register(visitor: User = visitor, owner: User = owner) -> None:
            with site.databases[1].write() as session:
                people.take_over(session, visitor.id, owner.id)
                people.delete_person(session, visitor.id)

        found = together(lambda: site.hand_in(visitor, "meanwhile"), register)  # noqa: B023 - made at once

        with site.databases[0].read() as session:
            kept = {one.id for one in submissions.attempts(session, owner.id)}
        assert kept == {stored, *([] if isinstance(found[0], NotAllowed) else [found[0]])}


def test_two_verdicts_of_one_person_at_once_are_both_counted(site: Site) -> None:
    """The sums of the second hold what the first has earned."""
    for turn in ROUNDS:
        ada = site.person()
        made = [site.hand_in(ada, f"sum {turn} {n}") for n in range(3)]
        taken = []
        for id in made:
            with site.databases[0].write() as session:
                taken.append(take(session, id, worker="w", token=id, now=1.0))

        def end(claim: claims.Claim, process: int) -> None:
            report = Report(exercise="any", status=Status.GRADED, score=50.0, seed=1, device="cpu", seconds=0.0)
            with site.databases[process].write() as session:
                claims.finish(session, claim, Grading.of(report, VERSIONS, 2.0))

        together(*[lambda n=n, claim=claim: end(claim, n % 2) for n, claim in enumerate(taken)])

        with site.databases[0].read() as session:
            board = {line.user: line.score for line in standings.leaderboard(session, INITIAL_CLASS)}
        assert board[ada.id] == 150.0


def test_two_machines_that_start_at_once_keep_the_grading_files_once(site: Site) -> None:
    """Neither fails, and there is one of each."""

    def keep(process: int, turn: int) -> None:
        with site.databases[process].write() as session:
            archive.add(session, f"exercise {turn}", "v1", b"zip")

    for turn in ROUNDS:
        assert together(lambda: keep(0, turn), lambda: keep(1, turn)) == [None, None]  # noqa: B023 - made at once
    with site.databases[0].read() as session:
        assert len(session.scalars(select(GradingFilesRow.exercise)).all()) == len(ROUNDS)


@pytest.mark.parametrize("site", ["postgres"], indirect=True)
@pytest.mark.parametrize("wrong", [-300.0, 300.0])
def test_a_clock_that_is_five_minutes_wrong_changes_no_time_and_no_order(site: Site, wrong: float) -> None:
    """Hand-ins through a right and a wrong process: times, turns in the queue and verdicts are the server's."""
    ada, before = site.person(), time.time()
    services = [site.service(0), site.service(1, lambda: time.time() + wrong), site.service(0)]
    ids = [
        service.submit(ada, exercise, "x = 1")
        for service, exercise in zip(services, sorted(Catalog.load()), strict=False)
    ]
    with site.databases[0].write() as session:
        claim = take(session, ids[1], worker="w", token=f"t{wrong}", now=before)
        assert claim is not None
        claims.finish(session, claim, Grading.of(FULL, VERSIONS, before + wrong))
    kept = services[1].drafts.keep(ada, "softmax", "text")
    with site.databases[0].read() as session:
        query = select(SubmissionRow.id, SubmissionRow.created, SubmissionRow.finished)
        rows = {row.id: row for row in session.execute(query.where(SubmissionRow.user_id == ada.id))}
        ready = session.scalars(select(JobRow.ready).where(JobRow.submission_id.in_(ids))).all()
    after = time.time()

    created = [rows[id].created for id in ids]
    finished = rows[ids[1]].finished
    assert finished is not None
    assert [*created, kept.saved] == sorted([*created, kept.saved])
    assert all(before - 1 <= one <= after + 1 for one in (*created, *ready, finished, kept.saved))
    assert [one.number for one in services[1].attempts(ada)] == [1, 1, 1]
    assert [one.id for one in services[1].attempts(ada)] == ids[::-1]
