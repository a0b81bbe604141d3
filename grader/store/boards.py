"""Best scores and leaderboards, kept in step with the reports so that reading them never touches the submissions."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.judge.report import Report, Status
from grader.store.records import Role, Standing, UserId
from grader.store.tables import BestRow, TotalRow, UserRow

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
    query = (
        select(BestRow, UserRow.name)
        .join(UserRow, UserRow.id == BestRow.user_id)
        .where(BestRow.exercise == exercise, UserRow.role == Role.STUDENT.value)
        .order_by(BestRow.score.desc(), BestRow.attempts, BestRow.reached, BestRow.user_id)
    )
    board: list[Standing] = []
    for row, name in session.execute(query):
        _append(board, row, name=name, solved=int(row.score >= FULL))
    return board


def _overall(session: Session) -> list[Standing]:
    query = (
        select(TotalRow, UserRow.name)
        .join(UserRow, UserRow.id == TotalRow.user_id)
        .where(UserRow.role == Role.STUDENT.value)
        .order_by(TotalRow.score.desc(), TotalRow.attempts, TotalRow.reached, TotalRow.user_id)
    )
    board: list[Standing] = []
    for row, name in session.execute(query):
        _append(board, row, name=name, solved=row.solved)
    return board


def _append(board: list[Standing], row: BestRow | TotalRow, *, name: str, solved: int) -> None:
    last = board[-1] if board else None
    merits = (row.score, row.attempts, row.reached)
    equal = last is not None and merits == (last.score, last.attempts, last.reached)
    rank = last.rank if last is not None and equal else len(board) + 1
    board.append(Standing(rank, UserId(row.user_id), name, *merits, solved=solved))


def _sum_up(session: Session, user: UserId) -> None:
    mine = BestRow.user_id == user
    score, attempts, reached = session.execute(
        select(func.sum(BestRow.score), func.sum(BestRow.attempts), func.max(BestRow.reached)).where(mine)
    ).one()
    solved = session.scalar(select(func.count()).where(mine, BestRow.score >= FULL))
    session.merge(TotalRow(user_id=user, score=round(score, 2), attempts=attempts, reached=reached, solved=solved or 0))
