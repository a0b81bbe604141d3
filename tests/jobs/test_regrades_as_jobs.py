"""A regrade of what was handed in: graded by the queue beside the old results, looked at, applied or cancelled."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select

from grader.errors import GraderFault
from grader.exercise.catalog import Catalog
from grader.jobs import claims
from grader.jobs.queue import Tracker
from grader.jobs.tryouts import TryoutThread
from grader.judge.report import Report, Status
from grader.service import Service
from grader.service.classes.requests import ClassRefusal
from grader.service.service import Rules
from grader.store import changes, gradings, standings
from grader.store.engine import Session
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, State, Submission, SubmissionId, User, UserId
from grader.store.tables import AuditRow, GradingRow, JobRow, NoticeRow
from tests.jobs.engines import Site
from tests.service.test_service import follow

NOW = datetime.fromisoformat("2026-09-18T10:00+00:00").timestamp()
CLASS = {"class": "A", "name": "A", "zone": "UTC", "bank": 2, "sections": []}
ASSIGNMENT = {
    "class": "A", "assignment": "A-1", "items": {"softmax": "10"}, "opens": "2026-09-14T00:00",
    "due": "2026-09-25T23:59", "section_due": {}, "grace": 0, "late": {}, "count": "best", "attempts": None,
    "show": "at_once",
}  # fmt: skip
PATIENCE_SECONDS = 60.0
_WRITERS: dict[str, Any] = {"enqueue": claims, "make_current": gradings, "notify": changes}


@dataclass
class Marks:
    """Grades each source by what it is worth now; whatever is held waits until it is let go."""

    worth: dict[str, float | Exception] = field(default_factory=dict)
    free: threading.Event = field(default_factory=threading.Event)
    order: list[str] = field(default_factory=list)

    def __call__(self, submission: Submission, tracker: Tracker) -> Report:
        assert self.free.wait(PATIENCE_SECONDS)
        tracker.cancel.check()
        self.order.append(submission.source)
        worth = self.worth[submission.source]
        if isinstance(worth, Exception):
            raise worth
        return Report(submission.exercise, Status.GRADED, worth, submission.seed, "cpu", 0.0)


@dataclass
class Room:
    """A class with an instructor and three students, who have handed in to its one exercise."""

    service: Service
    marks: Marks
    boss: User
    students: dict[str, User]
    ids: dict[str, SubmissionId]

    def ask(self, do: str, *, by: User | None = None, **fields: Any) -> Any:
        return self.service.classes.do(by or self.boss, do, {"class": "A", **fields})

    def regrade(self, change: str = "c1", **fields: Any) -> Any:
        return self.ask("regrade", exercise="softmax", change=change, reason="a case was wrong", **fields)

    def done(self, change: str = "c1") -> Any:
        """Return what a change would do, once all is graded."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (found := self.ask("change", change=change))["waiting"] and time.monotonic() < end:
            time.sleep(0.02)
        assert found["waiting"] == 0
        return found

    def seen(self) -> tuple[object, ...]:
        """Return all that people see of their results."""
        own = [self.ask("own", by=user, person=name.lower())["own"] for name, user in self.students.items()]
        attempts = [self.service.attempts(user) for user in self.students.values()]
        reports = [self.service.submission(self.students[name], id).report for name, id in self.ids.items()]
        boards = self.service.leaderboard("softmax", self.boss), self.service.classroom(self.boss).students()
        return own, attempts, reports, boards

    def count(self, row: Any) -> int:
        with self.service.condition.database.read() as session:
            return session.scalar(select(func.count()).select_from(row)) or 0


@contextmanager
def opened(site: Site) -> Iterator[Room]:
    """Give a class at a fixed time, whose hand-ins are graded on a kind of database."""
    marks = Marks({"ada": 50.0, "ben": 60.0, "cleo": 70.0})
    marks.free.set()
    site.database.clock = lambda: NOW
    service = Service(
        site.database, Catalog.load(), site.machine(marks, clock=lambda: NOW),
        rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
        tryouts=TryoutThread(lambda request: request.example),
        hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1), clock=lambda: NOW,
    )  # fmt: skip
    service.start()
    service.classes.do("admin", "class", CLASS)
    boss = service.add_user("Boss", "correct horse", Role.LEARNER)
    service.classes.do("admin", "staff", {"class": "A", "person": "boss", "name": "Boss", "role": "instructor"})
    service.classes.do(boss, "assign", ASSIGNMENT)
    code = service.classroom(boss).replace_code()
    students = {name: service.register(name, "correct horse", code) for name in ("Ada", "Ben", "Cleo")}
    ids = {name: hand_in(service, user) for name, user in students.items()}
    try:
        yield Room(service, marks, boss, students, ids)
    finally:
        marks.free.set()
        service.stop()


@pytest.fixture
def room(site: Site) -> Iterator[Room]:
    with opened(site) as room:
        yield room


def hand_in(service: Service, user: User, source: str = "") -> SubmissionId:
    id = service.submit(user, "softmax", source or user.name.lower())
    asyncio.run(follow(service, user, id))
    return id


def test_new_results_are_seen_by_nobody_before_they_are_applied(room: Room) -> None:
    """While they are made, and after; then by everybody at once, with one line in the audit each and a notice."""
    before = room.seen()
    room.marks.worth |= {"ada": 80.0, "ben": 40.0}
    room.marks.free.clear()
    assert room.regrade() == {"gradings": 3, "waiting": 3}
    with pytest.raises(ClassRefusal, match="have not ended") as early:
        room.ask("apply", change="c1")
    assert room.seen() == before
    room.marks.free.set()
    found = room.done()
    assert room.seen() == before

    assert (early.value.code, early.value.more) == ("not_done", {"waiting": 3})
    assert [(one["person"], one["before"], one["after"]) for one in found["attempts"]] == [
        ("ada", "50.00", "80.00"), ("ben", "60.00", "40.00"),
    ]  # fmt: skip
    assert found["told"] == ["ada", "ben"]
    with pytest.raises(ClassRefusal, match="Look at what it would change"):
        room.ask("apply", change="c1")
    room.ask("apply", change="c1", seen=found["seen"])
    assert [attempt.score for user in room.students.values() for attempt in room.service.attempts(user)] == [
        80.0, 40.0, 70.0,
    ]  # fmt: skip
    assert room.ask("own", by=room.students["Ada"], person="ada")["own"]["cells"]["A-1"]["points"] == "8.00"
    assert room.count(NoticeRow) == 2
    with pytest.raises(ClassRefusal, match="applied already"):
        room.ask("apply", change="c1", seen=found["seen"])


def test_a_change_that_is_cancelled_leaves_nothing_but_its_lines_in_the_audit(room: Room) -> None:
    """Also while a grading of it runs: that ends, and its result is dropped."""
    before, lines, gradings = room.seen(), room.count(AuditRow), room.count(GradingRow)
    room.marks.worth |= dict.fromkeys(room.marks.worth, 0.0)
    room.marks.free.clear()
    room.regrade()
    room.ask("cancel_change", change="c1")
    room.marks.free.set()
    later = hand_in(room.service, room.students["Ada"])

    assert room.count(JobRow) == room.count(NoticeRow) == 0
    assert room.count(AuditRow) == lines + 2
    assert room.count(GradingRow) == gradings + 1  # of the later hand-in
    assert room.service.submission(room.students["Ada"], room.ids["Ada"]).report == before[2][0]  # type: ignore[index]
    assert room.service.submission(room.students["Ada"], later).report.score == 0.0  # type: ignore[union-attr]


def test_what_is_handed_in_is_graded_before_what_waits_to_be_graded_once_more(room: Room) -> None:
    room.marks.free.clear()
    room.regrade()
    time.sleep(0.2)  # the one worker holds one of them by now, and the others wait
    dan = room.service.register("Dan", "correct horse")
    room.marks.worth["fresh"] = 10.0
    room.marks.order.clear()
    id = room.service.submit(dan, "softmax", "fresh")
    room.marks.free.set()
    asyncio.run(follow(room.service, dan, id))
    room.done()

    assert room.marks.order.index("fresh") <= 1
    assert len(room.marks.order) == 4


def test_nobody_waits_for_what_is_graded_once_more_of_their_own(room: Room) -> None:
    """Where one job of a person is graded at a time: what they hand in may be taken by another worker meanwhile."""
    room.marks.free.clear()
    room.regrade()
    database, end, held = room.service.condition.database, time.monotonic() + PATIENCE_SECONDS, list[str]()
    while not held and time.monotonic() < end:
        time.sleep(0.02)
        with database.read() as session:
            held = list(session.scalars(select(JobRow.submission_id).where(JobRow.claim.is_not(None))))
    name = next(name for name, id in room.ids.items() if id in held)
    room.marks.worth["fresh"] = 10.0
    fresh = room.service.submit(room.students[name], "softmax", "fresh")
    with database.write() as session:
        taken = claims.take(
            session, "cpu", worker="another", token="one", now=NOW, one_each=not database.embedded, regrades=0
        )
        session.rollback()
    room.marks.free.set()

    assert taken is not None
    assert taken.id == fresh


def test_a_grading_that_fails_by_our_fault_changes_no_grade(room: Room) -> None:
    """It is told beside the others, whose results can be applied."""
    room.marks.worth |= {"ada": GraderFault("the files are gone"), "ben": 90.0}
    room.regrade()
    found = room.done()
    room.ask("apply", change="c1", seen=found["seen"])

    assert found["failed"] == [room.ids["Ada"]]
    scores = [attempt.score for user in room.students.values() for attempt in room.service.attempts(user)]
    assert scores == [50.0, 90.0, 70.0]


def test_what_changed_since_the_look_is_not_applied(room: Room) -> None:
    """An override that came between changes what the change would do; a look anew, and it is applied."""
    room.marks.worth |= {"ada": 80.0, "ben": 90.0}
    room.regrade()
    found = room.done()
    room.ask("override", person="ben", assignment="A-1", points="9.50", reason="argued", revision=0)
    with pytest.raises(ClassRefusal) as stale:
        room.ask("apply", change="c1", seen=found["seen"])
    room.ask("apply", change="c1", seen=room.done()["seen"])

    assert stale.value.code == "changed_since"
    cells = {
        name: room.ask("own", by=user, person=name.lower())["own"]["cells"] for name, user in room.students.items()
    }
    assert {name: cell["A-1"]["points"] for name, cell in cells.items()} == {
        "Ada": "8.00",
        "Ben": "9.50",
        "Cleo": "7.00",
    }


def test_people_are_told_why_and_what_their_points_were_and_are(room: Room) -> None:
    """Only who is touched; and nobody of what is hidden from them."""
    room.marks.worth |= {"ada": 80.0, "ben": 90.0}
    for change in ("c1", "c2"):
        room.regrade(change)
        room.ask("apply", change=change, seen=room.done(change)["seen"])
        room.ask("assign_change", assignment="A-1", set={"show": "never"})
        room.marks.worth |= {"ada": 20.0}
    with room.service.condition.database.read() as session:
        told = {name: changes.unread(session, user.id, 2) for name, user in room.students.items()}

    assert {name: [one.text for one in found] for name, found in told.items()} == {
        "Ada": ["softmax was graded once more: a case was wrong\nA-1: 10 × 50 % = 5 → 10 × 80 % = 8"],
        "Ben": ["softmax was graded once more: a case was wrong\nA-1: 10 × 60 % = 6 → 10 × 90 % = 9"],
        "Cleo": [],
    }
    with room.service.condition.database.write() as session:
        changes.note_read(session, room.students["Ada"].id, [one.id for one in told["Ben"]], NOW)
        changes.note_read(session, room.students["Ben"].id, [one.id for one in told["Ben"]], NOW)
        left = [len(changes.unread(session, user.id, 2)) for user in room.students.values()]

    assert left == [1, 0, 0]


def test_whoever_watches_a_finished_attempt_is_not_told_that_it_waits_again(room: Room) -> None:
    """The stream of a run says what it said before, also while new results are made."""
    room.marks.free.clear()
    room.regrade()
    states = {
        watch.state
        for name, id in room.ids.items()
        for watch in asyncio.run(follow(room.service, room.students[name], id))
    }
    room.marks.free.set()
    room.done()

    assert states == {State.DONE}


def test_nobody_is_told_that_a_hidden_result_is_another_one(room: Room) -> None:
    """Neither by a notice nor by the attempts that it names: Ada has a hidden one beside one that is shown."""
    room.ask("assign_change", assignment="A-1", set={"attempts": 1})
    second = {**ASSIGNMENT, "assignment": "A-2", "due": "2026-09-26T23:59", "show": "never"}
    room.service.classes.do(room.boss, "assign", second)
    room.marks.worth |= {"ada later": 10.0, "ben later": 10.0}
    for name in ("Ada", "Ben"):
        hand_in(room.service, room.students[name], f"{name.lower()} later")
    room.marks.worth |= {"ada": 80.0, "ada later": 90.0, "ben later": 90.0}
    room.regrade()
    room.ask("apply", change="c1", seen=room.done()["seen"])
    told = {name: room.ask("agenda", by=user, person=name.lower())["notices"] for name, user in room.students.items()}

    assert [one["attempts"] for one in told["Ada"]] == [[room.ids["Ada"]]]
    assert "A-2" not in told["Ada"][0]["text"]
    assert told["Ben"] == told["Cleo"] == []


def test_what_is_compared_are_results_that_counted(room: Room) -> None:
    """One that was no better, and left all as it was, is not what counted before the next."""
    ada, attempt = room.students["Ada"], room.ids["Ada"]
    room.marks.worth["ada"] = 5.0
    room.regrade(keep="better")
    room.ask("apply", change="c1", seen=room.done()["seen"])
    room.marks.worth["ada"] = 90.0
    room.regrade("c2")
    room.ask("apply", change="c2", seen=room.done("c2")["seen"])

    def scores(by: User, change: str) -> list[float]:
        found = room.ask("results", by=by, person="ada", change=change, attempt=attempt)
        return [Report.from_json(found[name]).score for name in ("before", "after")]

    assert scores(room.boss, "c1") == scores(ada, "c1") == [50.0, 5.0]
    assert scores(room.boss, "c2") == scores(ada, "c2") == [50.0, 90.0]


def test_a_result_that_is_not_what_was_shown_is_not_replaced(room: Room) -> None:
    """Also where no points follow from it: somebody stored another result of an attempt that does not count."""
    room.marks.worth["worse"] = 10.0
    worse = hand_in(room.service, room.students["Ada"], "worse")
    room.marks.worth["worse"] = 20.0
    room.regrade()
    found = room.done()
    report = Report("softmax", Status.GRADED, 45.0, 0, "cpu", 0.0)
    with room.service.condition.database.write() as session:
        gradings.store(session, worse, Grading.of(report, Versions(exercise="", grader="", torch=""), NOW))
    with pytest.raises(ClassRefusal) as stale:
        room.ask("apply", change="c1", seen=found["seen"])

    assert [(one["before"], one["after"]) for one in found["attempts"]] == [("10.00", "20.00")]
    assert stale.value.code == "changed_since"


@pytest.mark.parametrize("change", ["a regrade is applied", "results come to be shown"])
def test_a_verdict_may_come_at_any_moment(room: Room, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """It and what changes at that moment are of one person at one exercise, whose best scores each of them stores."""
    room.marks.worth |= {"ada": 80.0, "fresh": 90.0}
    if change != "a regrade is applied":
        room.ask("assign_change", assignment="A-1", set={"show_checks": {"masking": "never"}})
    room.regrade()
    found, ada, database = room.done(), room.students["Ada"], room.service.condition.database
    room.marks.free.clear()
    fresh = room.service.submit(ada, "softmax", "fresh")
    report = Report("softmax", Status.GRADED, 90.0, 0, "cpu", 0.0)
    refresh, faults, verdict, thread = standings.refresh, list[Exception](), threading.Event(), threading.get_ident()

    def store() -> None:
        try:
            with database.write() as session:
                gradings.store(session, fresh, Grading.of(report, Versions(exercise="", grader="", torch=""), NOW))
        except Exception as fault:  # noqa: BLE001 - whatever it is
            faults.append(fault)
        verdict.set()

    def meanwhile(session: Session, user: UserId, exercise: str) -> None:
        refresh(session, user, exercise)
        if user == ada.id and threading.get_ident() == thread:
            threading.Thread(target=store).start()
            verdict.wait(0.5)  # it waits for the end of this transaction

    with monkeypatch.context() as patched:
        patched.setattr(standings, "refresh", meanwhile)
        if change == "a regrade is applied":
            room.ask("apply", change="c1", seen=found["seen"])
        else:
            room.ask("assign_change", assignment="A-1", set={"show_checks": {}})
    assert verdict.wait(PATIENCE_SECONDS)
    room.service.cancel(ada, fresh)

    assert faults == []
    assert room.service.best(ada) == {"softmax": 90.0}


WISHES: dict[str, tuple[Callable[[Room], dict[str, Any]], set[str]]] = {
    "all": (lambda room: {}, {"Ada", "Ben", "Cleo"}),
    "of an assignment": (lambda room: {"assignment": "A-1"}, {"Ada", "Ben", "Cleo"}),
    "of some people": (lambda room: {"people": ["ada", "cleo"]}, {"Ada", "Cleo"}),
    "of a list": (lambda room: {"attempts": [room.ids["Ben"]]}, {"Ben"}),
    "what could count": (lambda room: {"only_counting": True}, {"Ada", "Ben"}),  # Cleo's is set aside
}


@pytest.mark.parametrize("wish", WISHES)
def test_a_regrade_is_of_what_is_chosen(room: Room, wish: str) -> None:
    fields, whose = WISHES[wish]
    room.service.classes.do(room.students["Cleo"], "aside", {"person": "cleo", "id": room.ids["Cleo"]})
    room.marks.order.clear()
    room.regrade(**fields(room))
    room.done()

    assert sorted(room.marks.order) == sorted(name.lower() for name in whose)


def test_an_attempt_that_is_no_one_of_the_class_is_refused_whole(room: Room) -> None:
    practice = room.service.register("Dan", "correct horse")
    room.marks.worth["dan"] = 1.0
    id = hand_in(room.service, practice)
    with pytest.raises(ClassRefusal, match="no graded attempt"):
        room.regrade(attempts=[room.ids["Ada"], id])

    assert room.count(JobRow) == 0
    assert room.ask("changes")["changes"] == []


def test_two_instructors_who_apply_at_once_apply_once(room: Room) -> None:
    """The second is told that it is done; nobody is told twice of it."""
    room.marks.worth |= {"ada": 80.0}
    room.regrade()
    seen = room.done()["seen"]

    def click(_: int) -> str:
        try:
            room.ask("apply", change="c1", seen=seen)
        except ClassRefusal as refusal:
            return refusal.code
        return "ok"

    with ThreadPoolExecutor(4) as pool:
        codes = sorted(pool.map(click, range(4)))

    assert codes == ["not_open_change"] * 3 + ["ok"]
    assert room.count(NoticeRow) == 1


@pytest.mark.parametrize(("what", "do"), [("enqueue", "regrade"), ("make_current", "apply"), ("notify", "apply")])
def test_what_breaks_off_in_the_middle_leaves_all_as_it_was(
    room: Room, monkeypatch: pytest.MonkeyPatch, what: str, do: str
) -> None:
    """At each of its statements that write; afterwards it can be done."""
    room.marks.worth |= {"ada": 80.0, "ben": 90.0}
    if do == "apply":
        room.regrade()
        seen = room.done()["seen"]
    before, jobs, lines = room.seen(), room.count(JobRow), room.count(AuditRow)
    module, right = _WRITERS[what], getattr(_WRITERS[what], what)
    calls = iter((right, *[None] * 9))

    def broken(*given: Any, **named: Any) -> Any:
        if (do_it := next(calls) if what != "notify" else None) is None:
            raise OSError("no space left on the device")
        return do_it(*given, **named)

    wish = room.regrade if do == "regrade" else lambda: room.ask("apply", change="c1", seen=seen)
    with monkeypatch.context() as patched:
        patched.setattr(module, what, broken)
        with pytest.raises(OSError, match="no space"):
            wish()

    assert (room.seen(), room.count(JobRow), room.count(AuditRow), room.count(NoticeRow)) == (before, jobs, lines, 0)
    wish()
