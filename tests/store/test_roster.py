"""The class as its instructor reads it."""

from __future__ import annotations

from collections.abc import Callable

from grader.judge.report import Diagnosis, Report, Status
from grader.store import people, standings
from grader.store.engine import Database
from grader.store.records import Role, SubmissionId, User
from grader.store.standings import CommonMistake, Grade

Person = Callable[..., User]
Graded = Callable[..., SubmissionId]


def seen(mistake: str, title: str = "Title") -> Diagnosis:
    """Return a diagnosis."""
    return Diagnosis(mistake, title, "message", certain=True)


def report(score: float, *diagnosis: Diagnosis) -> Report:
    """Return a report."""
    return Report("softmax", Status.GRADED, score, 1, "cpu", 0.1, diagnosis=diagnosis)


def test_everybody_is_listed_whether_they_have_begun_or_not(database: Database, person: Person, graded: Graded) -> None:
    """By name; with the best score, all attempts used, and the later of the last sign-in and the last submission."""
    zoe, ada, bob = person("Zoe"), person("ada"), person("Bob")
    person("Prof", Role.INSTRUCTOR)
    for created, score in ((9.0, 80.0), (10.0, 30.0)):
        graded(zoe, report(score), created=created)
    with database.write() as session:
        people.open_session(session, zoe.id, digest="z", now=5.0, expires=99.0)
        people.open_session(session, bob.id, digest="b", now=6.0, expires=99.0)
    with database.read() as session:
        listed = standings.students(session)

    assert [(one.user, one.grades, one.active) for one in listed] == [
        (ada, {}, None),
        (bob, {}, 6.0),
        (zoe, {"softmax": Grade(80.0, 2)}, 10.0),
    ]


def test_mistakes_are_counted_per_student_and_attempt(database: Database, person: Person, graded: Graded) -> None:
    """Most students first; the last wording stands; named twice in a report is once; instructors are left out."""
    ada, bob, prof = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    for user in (ada, ada, bob, prof):
        graded(user, report(0.0, seen("late"), seen("late", "New")), created=1.0)
    graded(ada, report(0.0, seen("scale")), created=2.0)
    with database.read() as session:
        common = standings.common_mistakes(session)

    assert common == [
        CommonMistake("softmax", "late", "New", students=2, times=3),
        CommonMistake("softmax", "scale", "Title", students=1, times=1),
    ]


def test_an_instructor_is_no_student(database: Database, person: Person) -> None:
    """Asked for by id, a student is found, an instructor or an unknown id is not."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    with database.read() as session:
        found = [people.student(session, id) for id in (ada.id, prof.id, 99)]

    assert found == [ada, None, None]
