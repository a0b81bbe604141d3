"""What staff have written beside the grades: comments to a cell, and the reasons of what was granted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.rules.values import Field
from grader.store.classes import PERSON
from grader.store.records import UserId
from grader.store.tables import CommentRow, ExceptionRow, UserRow


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment, or an exception with its value. `at` is in seconds since the epoch, `by` empty for the console."""

    text: str
    by: str
    at: float
    shown: bool = False
    field: str = ""
    assignment: int | None = None
    value: str | None = None


def add_comment(session: Session, assignment: int, user: UserId, comment: Remark, *, by: UserId | None) -> None:
    """Store a comment to a cell."""
    row = CommentRow(
        assignment_id=assignment, user_id=user, by=by, at=comment.at, shown=comment.shown, text=comment.text
    )
    session.add(row)
    session.flush()


def comments(session: Session, assignment: int, user: UserId) -> list[Remark]:
    """Return the comments to a cell, the oldest first."""
    row = CommentRow
    query = select(row.text, PERSON, row.at, row.shown).outerjoin(UserRow, UserRow.id == row.by)
    query = query.where(row.assignment_id == assignment, row.user_id == user)
    return [Remark(text, by or "", at, shown) for text, by, at, shown in session.execute(query.order_by(row.id))]


def extensions(session: Session, class_id: int) -> list[tuple[int, str, str]]:
    """Return who has a due time of their own now: the assignment, the person, and the minute on the wall."""
    row = ExceptionRow
    query = select(row.assignment_id, PERSON, row.value).join(UserRow, UserRow.id == row.user_id)
    query = query.where(row.class_id == class_id, row.field == Field.DUE.value).order_by(row.id)
    latest = {(id, person): value for id, person, value in session.execute(query)}
    return [(id, person, value) for (id, person), value in latest.items() if id is not None and value is not None]


def granted(session: Session, class_id: int, user: UserId) -> list[Remark]:
    """Return the exceptions that somebody has now, each with its reason."""
    row = ExceptionRow
    query = select(row.reason, PERSON, row.at, row.field, row.assignment_id, row.value)
    query = query.outerjoin(UserRow, UserRow.id == row.by).where(row.class_id == class_id, row.user_id == user)
    latest: dict[Any, Remark] = {}
    for reason, by, at, field, assignment, value in session.execute(query.order_by(row.id)):
        latest[assignment, field] = Remark(reason, by or "", at, field=field, assignment=assignment, value=value)
    return [one for one in latest.values() if one.value is not None]
