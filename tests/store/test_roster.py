"""The class as its instructor reads it."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import text

from grader.judge.report import Diagnosis, Report, Status
from grader.store import accounts, boards, migrate, roster, submissions
from grader.store.engine import Database
from grader.store.records import Role, Submission, User
from grader.store.roster import CommonMistake, Grade

Person = Callable[..., User]


def seen(mistake: str, title: str = "Title") -> Diagnosis:
    """Return a diagnosis."""
    return Diagnosis(mistake, title, "message", certain=True)


def graded(score: float, *diagnosis: Diagnosis) -> Report:
    """Return a report."""
    return Report("softmax", Status.GRADED, score, 1, "cpu", 0.1, diagnosis=diagnosis)


def test_everybody_is_listed_whether_they_have_begun_or_not(
    database: Database, person: Person, draft: Callable[..., Submission]
) -> None:
    """By name; with the best score, all attempts used, and the later of the last sign-in and the last submission."""
    zoe, ada, bob = person("Zoe"), person("ada"), person("Bob")
    person("Prof", Role.INSTRUCTOR)
    with database.write() as session:
        submissions.add(session, draft(zoe, "s1", created=10.0))
        for score in (80.0, 30.0):
            boards.count(session, zoe.id, "softmax", report=graded(score), now=11.0)
        accounts.open_session(session, zoe.id, digest="z", now=5.0, expires=99.0)
        accounts.open_session(session, bob.id, digest="b", now=6.0, expires=99.0)
    with database.read() as session:
        listed = roster.students(session)

    assert [(one.user, one.grades, one.active) for one in listed] == [
        (ada, {}, None),
        (bob, {}, 6.0),
        (zoe, {"softmax": Grade(80.0, 2)}, 10.0),
    ]


def test_mistakes_are_counted_per_student_and_attempt(database: Database, person: Person) -> None:
    """Most students first; the last wording stands; named twice in a report is once; instructors are left out."""
    ada, bob, prof = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    with database.write() as session:
        for user in (ada, ada, bob, prof):
            roster.note(session, user.id, "softmax", diagnosis=[seen("late"), seen("late", "New")])
        roster.note(session, ada.id, "softmax", diagnosis=[seen("scale")])
        session.flush()
    with database.read() as session:
        common = roster.common_mistakes(session)

    assert common == [
        CommonMistake("softmax", "late", "New", students=2, times=3),
        CommonMistake("softmax", "scale", "Title", students=1, times=1),
    ]


def test_an_instructor_is_no_student(database: Database, person: Person) -> None:
    """Asked for by id, a student is found, an instructor or an unknown id is not."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    with database.read() as session:
        found = [roster.student(session, id) for id in (ada.id, prof.id, 99)]

    assert found == [ada, None, None]


def test_reports_from_before_the_count_are_counted_by_the_migration(
    person: Person, draft: Callable[..., Submission], database: Database
) -> None:
    """A database of the revision before brings its diagnoses along."""
    ada = person("Ada")
    with database.write() as session:
        submissions.add(session, draft(ada, "s1"))
        session.execute(text("UPDATE submissions SET state = 'done'"))
        row = {"id": "s1", "body": graded(5.0, seen("late"), seen("scale")).to_json()}
        session.execute(text("INSERT INTO reports VALUES (:id, 1, 'graded', 5.0, 1.0, :body, '')"), row)
        session.execute(text("DROP TABLE mistakes"))
        session.execute(text("DROP INDEX ix_reports_flag"))
        session.execute(text("ALTER TABLE reports DROP COLUMN flag"))
        session.execute(text("ALTER TABLE submissions DROP COLUMN kills"))
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    migrate.upgrade(database)
    with database.read() as session:
        common = roster.common_mistakes(session)

    assert [(one.mistake, one.students, one.times) for one in common] == [("late", 1, 1), ("scale", 1, 1)]
