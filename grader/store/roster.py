"""What an instructor reads about a class: who is in it, how far each one is, and which mistakes are common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ScalarSelect, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.store import accounts
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


def student(session: Session, id: UserId) -> User | None:
    """Return the student of that id; None for an instructor, too."""
    found = accounts.user(session, id)
    return found if found is not None and found.role is Role.STUDENT else None


def students(session: Session) -> list[Student]:
    """Return every student by name, those too who have not handed anything in."""
    # One look into an index for each student: grouping would read an entry for each submission there is.
    last = (_last(SubmissionRow.user_id, SubmissionRow.created), _last(SessionRow.user_id, SessionRow.created))
    rows = session.execute(select(UserRow.id, UserRow.name, *last).where(accounts.is_member(UserRow.id, Role.STUDENT)))
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
        .where(accounts.is_member(row.user_id, Role.STUDENT))
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
