"""Best scores and leaderboards, read from the caches that `standings` keeps: no submission is touched."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Row, Select, SQLColumnExpression, and_, case, select, update
from sqlalchemy.orm import Session

from grader.store.records import BoardName, Role, Standing, UserId
from grader.store.standings import FULL
from grader.store.tables import FIRST_CLASS, BestRow, MembershipRow, TotalRow, UserRow

_Line = tuple[int, str, float, int, float, int, str]  # user, name, score, attempts, reached, solved, shown


_STUDENT: ColumnElement[bool] = and_(
    MembershipRow.class_id == FIRST_CLASS, MembershipRow.role == Role.STUDENT.value, MembershipRow.ended.is_(None)
)


def best(session: Session, user: UserId) -> dict[str, float]:
    """Return a person's best score on each exercise they have an attempt on."""
    query = select(BestRow.exercise, BestRow.score).where(BestRow.user_id == user)
    return {row.exercise: row.score for row in session.execute(query)}


def leaderboard(session: Session, exercise: str | None = None) -> list[Standing]:
    """Return the students in order: score, then fewer attempts, then earlier; equal ones share a rank.

    Those who have left the boards are not among them.
    """
    return _overall(session) if exercise is None else _on(session, exercise)


def members(session: Session) -> list[tuple[UserId, str]]:
    """Return everybody who was ever in the class, by id, with the folded name."""
    row = MembershipRow
    query = select(UserRow.id, UserRow.key).join(row, row.user_id == UserRow.id).where(row.class_id == FIRST_CLASS)
    return [(UserId(id), key) for id, key in session.execute(query.order_by(UserRow.id))]


def choice(session: Session, user: UserId) -> BoardName | None:
    """Return what a student has chosen to be on the boards; None for whoever is no student of the class."""
    chosen = session.scalar(select(MembershipRow.board).where(MembershipRow.user_id == user, _STUDENT))
    return None if chosen is None else BoardName(chosen)


def choose(session: Session, user: UserId, name: BoardName) -> bool:
    """Store what a student wants to be on the boards; return whether there is such a student."""
    row = MembershipRow
    changed = update(row).where(row.user_id == user, _STUDENT).values(board=name.value).returning(row.user_id)
    return session.execute(changed).one_or_none() is not None


def _on(session: Session, exercise: str) -> list[Standing]:
    solved = case((BestRow.score >= FULL, 1), else_=0)
    query = _standings(BestRow, solved).where(BestRow.exercise == exercise)
    return _ranked(session.execute(query))


def _overall(session: Session) -> list[Standing]:
    return _ranked(session.execute(_standings(TotalRow, TotalRow.solved)))


def _standings(row: type[BestRow | TotalRow], solved: SQLColumnExpression[int]) -> Select[*_Line]:
    """Select the students in order; columns and no objects, of which five hundred would take ten times as long."""
    return (
        select(row.user_id, UserRow.name, row.score, row.attempts, row.reached, solved, MembershipRow.board)
        .join(UserRow, UserRow.id == row.user_id)
        .join(MembershipRow, and_(MembershipRow.user_id == row.user_id, _STUDENT))
        .where(MembershipRow.board != BoardName.NONE.value)
        .order_by(row.score.desc(), row.attempts, row.reached, row.user_id)
    )


def _ranked(lines: Iterable[Row[*_Line]]) -> list[Standing]:
    board: list[Standing] = []
    rank, last = 0, None
    for place, (user, name, score, attempts, reached, solved, shown) in enumerate(lines, 1):
        rank, last = rank if (score, attempts, reached) == last else place, (score, attempts, reached)
        shown_as = BoardName(shown)
        board.append(Standing(rank, UserId(user), name, score, attempts, reached, solved=solved, shown=shown_as))
    return board
