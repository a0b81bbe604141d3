"""Best scores and leaderboards, kept in step with the reports so that reading them never touches the submissions."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Row, Select, SQLColumnExpression, case, func, select
from sqlalchemy.orm import Session

from grader.judge.report import Report, Status
from grader.store.records import Role, Standing, UserId
from grader.store.tables import BestRow, TotalRow, UserRow

_Line = tuple[int, str, float, int, float, int]  # user, name, score, attempts, reached, solved

FULL = 100.0
FREE = frozenset({Status.REJECTED, Status.UNGRADABLE})  # these use up no attempt


def count(session: Session, user: UserId, exercise: str, *, report: Report, now: float) -> None:
    """Count one more attempt of a person, in the transaction that stores the report.

    Where a fault of ours kept the report from being whole, what was earned counts, and no attempt is used.
    """
    if report.status in FREE:
        return
    # Two of the person's reports may arrive at once; the sums below must see both.
    session.scalar(select(UserRow.id).where(UserRow.id == user).with_for_update())
    best = session.get(BestRow, (user, exercise))
    if best is None:
        best = BestRow(user_id=user, exercise=exercise, score=-1.0, attempts=0, reached=now, used=0)
        session.add(best)
    best.used += not report.incident
    if report.score > best.score:
        best.score, best.attempts, best.reached = report.score, best.used, now
        session.flush()
        _sum_up(session, user)


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
        .where(UserRow.role == Role.STUDENT.value)
        .order_by(row.score.desc(), row.attempts, row.reached, row.user_id)
    )


def _ranked(lines: Iterable[Row[*_Line]]) -> list[Standing]:
    board: list[Standing] = []
    rank, last = 0, None
    for place, (user, name, score, attempts, reached, solved) in enumerate(lines, 1):
        rank, last = rank if (score, attempts, reached) == last else place, (score, attempts, reached)
        board.append(Standing(rank, UserId(user), name, score, attempts, reached, solved=solved))
    return board


def _sum_up(session: Session, user: UserId) -> None:
    mine = BestRow.user_id == user
    score, attempts, reached = session.execute(
        select(func.sum(BestRow.score), func.sum(BestRow.attempts), func.max(BestRow.reached)).where(mine)
    ).one()
    solved = session.scalar(select(func.count()).where(mine, BestRow.score >= FULL))
    session.merge(TotalRow(user_id=user, score=round(score, 2), attempts=attempts, reached=reached, solved=solved or 0))
