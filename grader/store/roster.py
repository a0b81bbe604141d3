"""What an instructor reads about a class: who is in it, how far each one is, and which mistakes are common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ScalarSelect, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.judge.report import Diagnosis
from grader.store.records import Role, User, UserId
from grader.store.tables import BestRow, MistakeRow, SessionRow, SubmissionRow, UserRow

Owner = InstrumentedAttribute[int]
Moment = InstrumentedAttribute[float]


@dataclass(frozen=True, slots=True)
class Grade:
    """A student's best score on an exercise, and how many attempts they have used on it in all."""

    score: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Student:
    """A student with what they have reached.

    Attributes:
        user: the person.
        grades: by exercise, those with a counted attempt only.
        active: when they last signed in or handed something in; None for never since they registered.
    """

    user: User
    grades: Mapping[str, Grade]
    active: float | None


@dataclass(frozen=True, slots=True)
class CommonMistake:
    """A mistake on an exercise: how many students made it, and in how many attempts."""

    exercise: str
    mistake: str
    title: str
    students: int
    times: int


def note(session: Session, user: UserId, exercise: str, *, diagnosis: Sequence[Diagnosis]) -> None:
    """Count what was diagnosed, in the transaction that stores the report."""
    for one in {one.mistake: one for one in diagnosis}.values():
        row = session.get(MistakeRow, (user, exercise, one.mistake[:100]))
        if row is None:
            row = MistakeRow(user_id=user, exercise=exercise, mistake=one.mistake[:100], title="", times=0)
            session.add(row)
        row.title = one.title[:200]
        row.times += 1


def student(session: Session, id: UserId) -> User | None:
    """Return the student of that id; None for an instructor, too."""
    row = session.get(UserRow, id)
    return None if row is None or row.role != Role.STUDENT.value else User(UserId(row.id), row.name, Role.STUDENT)


def students(session: Session) -> list[Student]:
    """Return every student by name, those too who have not handed anything in."""
    # One look into an index for each student: grouping would read an entry for each submission there is.
    last = (_last(SubmissionRow.user_id, SubmissionRow.created), _last(SessionRow.user_id, SessionRow.created))
    rows = session.execute(select(UserRow.id, UserRow.name, *last).where(UserRow.role == Role.STUDENT.value))
    grades = _grades(session)
    found = [
        Student(User(UserId(id), name, Role.STUDENT), grades.get(id, {}), max(filter(None, moments), default=None))
        for id, name, *moments in rows
    ]
    return sorted(found, key=lambda one: (one.user.name.casefold(), one.user.id))


def common_mistakes(session: Session) -> list[CommonMistake]:
    """Return the mistakes that students made, on each exercise those of most students first."""
    row = MistakeRow
    query = (
        select(row.exercise, row.mistake, func.max(row.title), func.count(), func.sum(row.times))
        .join(UserRow, UserRow.id == row.user_id)
        .where(UserRow.role == Role.STUDENT.value)
        .group_by(row.exercise, row.mistake)
        .order_by(row.exercise, func.count().desc(), func.sum(row.times).desc(), row.mistake)
    )
    return [CommonMistake(*line) for line in session.execute(query)]


def _grades(session: Session) -> dict[int, dict[str, Grade]]:
    grades: dict[int, dict[str, Grade]] = {}
    for user, exercise, score, used in session.execute(
        select(BestRow.user_id, BestRow.exercise, BestRow.score, BestRow.used)
    ):
        grades.setdefault(user, {})[exercise] = Grade(score, used)
    return grades


def _last(owner: Owner, moment: Moment) -> ScalarSelect[float]:
    return select(func.max(moment)).where(owner == UserRow.id).scalar_subquery()
