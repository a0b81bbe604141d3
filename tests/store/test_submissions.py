"""What is handed in comes back as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import PrimaryKeyConstraint, Table, UniqueConstraint, select
from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.judge.report import Clue, Diagnosis, Flag, Location, Report, Sight, Status
from grader.store import classes, gradings, people, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import GradingId, Role, State, Submission, SubmissionId, User, Wanted
from grader.store.tables import INITIAL_CLASS, Base, SubmissionRow, UserRow

Draft = Callable[..., Submission]
Person = Callable[..., User]
VERSIONS = Versions(exercise="v1", grader="g1", torch="2")


def test_a_source_comes_back_byte_for_byte(database: Database, person: Person, draft: Draft) -> None:
    """Garbage is kept as it is, and shown with a mark in place of what is no text."""
    ada = person("Ada")
    with database.write() as session:
        submissions.add(session, draft(ada, "s1", raw=b"x\xff\x00"))

    with database.read() as session:
        found = submissions.get(session, SubmissionId("s1"))
    assert found is not None
    assert (found.raw, found.source, found.seed) == (b"x\xff\x00", "x\ufffd\x00", 2**47 + 1)


def test_submissions_are_numbered_for_each_person_and_exercise(
    database: Database, person: Person, draft: Draft
) -> None:
    """The second one on an exercise is number 2, cancelled ones included; another exercise begins at 1."""
    ada, bob = person("Ada"), person("Bob")
    with database.write() as session:
        first = submissions.add(session, draft(ada, "s1"))
        claims.cancel(session, SubmissionId("s1"), now=11.0)
        second = submissions.add(session, draft(ada, "s2"))
        other = submissions.add(session, draft(ada, "s3", exercise="masking"))
        foreign = submissions.add(session, draft(bob, "s4"))

    assert [one.number for one in (first, second, other, foreign)] == [1, 2, 1, 1]


def test_only_what_counts_is_an_attempt(
    database: Database, person: Person, draft: Draft, graded: Callable[..., SubmissionId]
) -> None:
    """What could not be run, was cancelled or was ended by a fault of ours is none; numbers agree everywhere."""
    ada = person("Ada")
    ends = [Status.REJECTED, Status.GRADED, Status.UNGRADABLE, Status.TIMEOUT]
    ids = [graded(ada, Report("softmax", end, 0.0, 1, "cpu", 0.1), created=float(at)) for at, end in enumerate(ends)]
    ids.append(graded(ada, Report("softmax", Status.GRADED, 0.0, 1, "cpu", 0.1, incident="ab12"), created=5.0))
    with database.write() as session:
        ids += [submissions.add(session, draft(ada, "gone", exercise="softmax")).id]
        claims.cancel(session, ids[-1], now=11.0)
        ids += [submissions.add(session, draft(ada, "open", exercise="softmax")).id]

    with database.read() as session:
        found = [submissions.get(session, id) for id in ids]
        listed = submissions.attempts(session, ada.id, "softmax")
        outcomes = [submissions.outcome(session, id).nth for id in ids]
        near = [submissions.neighbours(session, INITIAL_CLASS, one).count for one in found if one is not None]
    assert outcomes == [0, 1, 0, 2, 0, 0, 3]
    assert [one and one.nth for one in found] == outcomes
    assert [one.nth for one in reversed(listed)] == outcomes
    assert near == [3] * len(ids)


def test_attempts_come_newest_first(database: Database, person: Person, draft: Draft) -> None:
    """The list holds every submission, whatever became of it, and can be kept to one exercise, or to the newest."""
    ada = person("Ada")
    with database.write() as session:
        submissions.add(session, draft(ada, "s1", created=1.0))
        claims.cancel(session, SubmissionId("s1"), now=2.0)
        submissions.add(session, draft(ada, "s2", created=3.0))
        submissions.add(session, draft(ada, "s3", exercise="masking", created=2.0))
        every = submissions.attempts(session, ada.id)
        some = submissions.attempts(session, ada.id, "softmax")
        newest = [submissions.attempts(session, ada.id, kept, most=1) for kept in (None, "softmax", "masking")]

    assert [(one.id, one.state) for one in every] == [
        ("s2", State.QUEUED), ("s3", State.QUEUED), ("s1", State.CANCELLED),
    ]  # fmt: skip
    assert [one.id for one in some] == ["s2", "s1"]
    assert [[one.id for one in few] for few in newest] == [["s2"], ["s2"], ["s3"]]


def test_attempts_say_their_mistakes_and_where_they_begin(
    database: Database, person: Person, graded: Callable[..., SubmissionId]
) -> None:
    """What the current report names, also where it was found after the verdict; nothing for one without a cause."""
    ada = person("Ada")
    plain = Report("softmax", Status.GRADED, 40.0, 7, "cpu", 0.1)
    late, scale = (Diagnosis(name, f"Title of {name}", "message", certain=True) for name in ("late", "scale"))
    begins = Location("weights", "Your results become wrong at line 3", "message", 3)
    first = graded(ada, replace(plain, diagnosis=(late, scale)), created=1.0)
    second = graded(ada, plain, created=2.0)
    later = graded(ada, replace(plain, complete=False), created=3.0)
    found = replace(plain, location=begins)
    with database.write() as session:
        grading = session.scalar(select(SubmissionRow.current_grading).where(SubmissionRow.id == later))
        for report, whose in ((found, later), (plain, first)):  # what is another one's changes nothing
            gradings.complete(session, GradingId(grading), report, report.to_json(), submission=whose)
        lines = submissions.attempts(session, ada.id)

    assert {line.id: (line.mistakes, line.begins) for line in lines} == {
        first: (("Title of late", "Title of scale"), ""), second: ((), ""),
        later: ((), "Your results become wrong at line 3"),
    }  # fmt: skip


def test_flagged_reports_are_found_newest_first(database: Database, person: Person, draft: Draft) -> None:
    """Those of students only, with the flags that are asked for, and no more than are wanted."""
    trapped, unusual = Clue(Sight.TRAPPED, "torch.softmax", 3), Clue(Sight.UNUSUAL, "ctypes", 1)
    ada, bob, eve = person("Ada"), person("Bob"), person("Eve", Role.INSTRUCTOR)
    for number, (who, clues) in enumerate([(ada, (trapped,)), (bob, (unusual,)), (bob, ()), (eve, (trapped,))]):
        with database.write() as session:
            stored = submissions.add(session, draft(who, f"s{number}"))
            report = Report("softmax", Status.GRADED, 0.0, 7, "cpu", 0.1, clues=clues)
            gradings.store(session, stored.id, Grading.of(report, VERSIONS, 20.0 + number))

    with database.read() as session:
        found = submissions.listed(session, INITIAL_CLASS, Wanted(flags=(Flag.LOOK, Flag.READY_MADE)), most=9)
        first = submissions.listed(session, INITIAL_CLASS, Wanted(flags=(Flag.LOOK, Flag.READY_MADE)), most=1)
        kept = submissions.get(session, SubmissionId("s0"))
    assert [(one.name, one.attempt.id, one.attempt.flag) for one in found] == [
        ("Bob", "s1", Flag.LOOK), ("Ada", "s0", Flag.READY_MADE),
    ]  # fmt: skip
    assert first == found[:1]
    assert kept is not None
    assert kept.report is not None
    assert kept.report.clues == (trapped,)


def test_the_neighbours_of_a_submission_are_its_owners_on_the_same_exercise(
    database: Database, person: Person, draft: Draft, graded: Callable[..., SubmissionId]
) -> None:
    """The one before and the one after it by number; other people's and other exercises' are none."""
    ada, bob = person("Ada"), person("Bob")
    report = Report(exercise="softmax", status=Status.GRADED, score=50.0, seed=7, device="cpu", seconds=0.1)
    ids = [graded(ada, report, created=moment) for moment in (10.0, 20.0, 30.0)]
    graded(bob, report, created=15.0)
    with database.write() as session:
        submissions.add(session, draft(ada, "other", exercise="masking", created=25.0))
    with database.read() as session:
        stored = [submissions.get(session, id) for id in (*ids, SubmissionId("other"))]
        around = [submissions.neighbours(session, INITIAL_CLASS, one) for one in stored if one]

    assert [(one.previous, one.next, one.count) for one in around] == [
        (None, ids[1], 3), (ids[0], ids[2], 3), (ids[1], None, 3), (None, None, 1),
    ]  # fmt: skip


def test_a_list_holds_what_is_wanted_of_present_students(
    database: Database, person: Person, graded: Callable[..., SubmissionId]
) -> None:
    """Of the class, of one student, of an exercise, with a mistake, and no more than asked for; newest first."""
    ada, bob, left, prof = person("Ada"), person("Bob"), person("Left"), person("Prof", Role.INSTRUCTOR)
    late = Diagnosis("late", "Late", "The mask is late.", certain=True)
    plain = Report(exercise="softmax", status=Status.GRADED, score=50.0, seed=7, device="cpu", seconds=0.1)
    wrong = replace(plain, diagnosis=(late,))
    ids = {
        "ada late": graded(ada, wrong, created=10.0), "bob": graded(bob, plain, created=20.0),
        "bob late": graded(bob, wrong, created=30.0),
        "ada mask": graded(ada, replace(wrong, exercise="mask"), created=40.0),
    }  # fmt: skip
    for other in (left, prof):
        graded(other, wrong, created=50.0)
    with database.write() as session:
        classes.set_presence(session, INITIAL_CLASS, left.id, ended=60.0)
    names = {id: name for name, id in ids.items()}

    def shown(most: int = 9, **wanted: object) -> list[str]:
        with database.read() as session:
            return [
                names[one.attempt.id] for one in submissions.listed(session, INITIAL_CLASS, Wanted(**wanted), most=most)
            ]

    assert shown() == ["ada mask", "bob late", "bob", "ada late"]
    assert shown(most=2) == ["ada mask", "bob late"]
    assert shown(student=ada.id) == ["ada mask", "ada late"]
    assert shown(exercise="softmax") == ["bob late", "bob", "ada late"]
    assert shown(exercise="softmax", mistake="late") == ["bob late", "ada late"]
    assert shown(student=bob.id, mistake="late") == ["bob late"]
    assert shown(student=left.id) == shown(mistake="none") == []


def test_the_best_attempt_is_the_one_that_the_best_score_comes_from(
    database: Database, person: Person, graded: Callable[..., SubmissionId]
) -> None:
    """The first of equal ones; none where nothing counted."""
    ada = person("Ada")
    report = Report(exercise="softmax", status=Status.GRADED, score=50.0, seed=7, device="cpu", seconds=0.1)
    scores = (50.0, 80.0, 80.0, 20.0)
    ids = [graded(ada, replace(report, score=score), created=10.0 * n) for n, score in enumerate(scores, 1)]
    with database.read() as session:
        found = [submissions.best_of(session, ada.id, exercise) for exercise in ("softmax", "mask")]

    assert found == [ids[1], None]


def _indexed(table: Table) -> list[tuple[str, ...]]:
    """Return the columns of everything by which rows of a table are found: its key, its indexes, what is unique."""
    unique = [one for one in table.constraints if isinstance(one, (PrimaryKeyConstraint, UniqueConstraint))]
    whole = [one for one in table.indexes if one.dialect_options["sqlite"]["where"] is None]
    return [tuple(column.name for column in one.columns) for one in (*unique, *whole)]


def test_what_points_at_a_row_that_may_be_deleted_is_found_by_an_index() -> None:
    """Else each deletion reads the whole table that points at it; classes alone are never deleted."""
    keys = [key for table in Base.metadata.tables.values() for key in table.foreign_key_constraints]
    pointing = [key for key in keys if key.referred_table.name != "classes"]
    without = [
        (key.table.name, *key.column_keys)
        for key in pointing
        if not any(columns[: len(key.columns)] == tuple(key.column_keys) for columns in _indexed(key.table))
    ]

    assert len(pointing) > 10
    assert without == []


def _steps(database: Database, do: Callable[[Session], None]) -> int:
    with database.write() as session:
        raw = session.connection().connection.driver_connection
        taken = []
        raw.set_progress_handler(lambda: taken.append(1), 1)
        try:
            do(session)
            session.flush()
        finally:
            raw.set_progress_handler(None, 0)
    return len(taken)


def test_to_delete_somebody_costs_the_same_whatever_others_have_handed_in(
    database: Database, person: Person, graded: Callable[..., SubmissionId]
) -> None:
    """A member who leaves for good, and a visitor who is forgotten; everybody else's writes wait meanwhile."""
    report = Report("softmax", Status.GRADED, 50.0, 7, "cpu", 0.1)
    others, costs = person("others"), []
    for share in (10, 100):
        for _ in range(share):
            graded(others, report, created=1.0)
        ada, visitor = person(f"ada {share}"), person(f"visitor {share}", Role.LEARNER)
        for _ in range(5):
            graded(ada, report, created=1.0)
            graded(visitor, report, created=1.0)
        with database.write() as session:
            session.get_one(UserRow, visitor.id).name = ""
        ways_out = (
            lambda session, id=ada.id: people.delete_person(session, id),
            lambda session: people.forget_visitors(session, 0, looked_at=500, most=20),
        )
        costs.append([_steps(database, out) for out in ways_out])

    assert all(after < 1.2 * before for before, after in zip(*costs, strict=True)), costs
