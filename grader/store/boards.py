"""Best scores and leaderboards, read from the caches that `standings` keeps: no submission is touched."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Row, Select, SQLColumnExpression, case, select
from sqlalchemy.orm import Session

from grader.store.accounts import is_member
from grader.store.records import Role, Standing, UserId
from grader.store.standings import FULL
from grader.store.tables import BestRow, TotalRow, UserRow

_Line = tuple[int, str, float, int, float, int]  # user, name, score, attempts, reached, solved


def best(session: Session, user: UserId) -> dict[str, float]:
    """Return a person's best score on each exercise they have an attempt on."""
    query = select(BestRow.exercise, BestRow.score).where(BestRow.user_id == user)
    return {row.exercise: row.score for row in session.execute(query)}


def leaderboard(session: Session, exercise: str | None = None) -> list[Standing]:
    """Return the students in order: score, then fewer attempts, then earlier; equal ones share a rank."""
    return _overall(session) if exercise is None else _on(session, exercise)


def _on(session: Session, exercise: str) -> list[Standing]:
    solved = case((BestRow.score >= FULL, 1), else_=0)
    query = _standings(BestRow, solved).where(BestRow.exercise == exercise)
    return _ranked(session.execute(query))


def _overall(session: Session) -> list[Standing]:
    return _ranked(session.execute(_standings(TotalRow, TotalRow.solved)))


def _standings(row: type[BestRow | TotalRow], solved: SQLColumnExpression[int]) -> Select[*_Line]:
    """Select the students in order; columns and no objects, of which five hundred would take ten times as long."""
    return (
        select(row.user_id, UserRow.name, row.score, row.attempts, row.reached, solved)
        .join(UserRow, UserRow.id == row.user_id)
        .where(is_member(row.user_id, Role.STUDENT))
        .order_by(row.score.desc(), row.attempts, row.reached, row.user_id)
    )


def _ranked(lines: Iterable[Row[*_Line]]) -> list[Standing]:
    board: list[Standing] = []
    rank, last = 0, None
    for place, (user, name, score, attempts, reached, solved) in enumerate(lines, 1):
        rank, last = rank if (score, attempts, reached) == last else place, (score, attempts, reached)
        board.append(Standing(rank, UserId(user), name, score, attempts, reached, solved=solved))
    return board
