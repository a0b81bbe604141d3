"""The way of one person through their submissions: neighbours of one, the best one, those with full marks."""

from __future__ import annotations

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from grader.store.records import Neighbours, Submission, SubmissionId, UserId
from grader.store.standings import FULL, used
from grader.store.tables import OPEN, BestRow, GradingRow, SubmissionRow


def full_marks(session: Session, user: UserId) -> dict[str, list[float]]:
    """Return when the person handed in what got full marks, by exercise, each in the order of time."""
    row = SubmissionRow
    query = (
        select(row.exercise, row.created)
        .join(GradingRow, GradingRow.id == row.current_grading)
        .where(row.user_id == user, GradingRow.score >= FULL)
        .order_by(row.created)
    )
    found: dict[str, list[float]] = {}
    for exercise, created in session.execute(query):
        found.setdefault(exercise, []).append(created)
    return found


def neighbours(session: Session, one: Submission) -> Neighbours:
    """Return what the person handed in to the exercise just before `one`, and just after it."""
    row = SubmissionRow
    mine = (row.user_id == one.user, row.exercise == one.exercise)
    before = select(row.id).where(*mine, row.number < one.number).order_by(row.number.desc()).limit(1)
    after = select(row.id).where(*mine, row.number > one.number).order_by(row.number).limit(1)
    previous, following = (None if id is None else SubmissionId(id) for id in map(session.scalar, (before, after)))
    count = used(session, one.user, one.exercise)
    if session.scalar(select(row.id).where(*mine, row.state == OPEN)):
        count += 1
    return Neighbours(previous, following, count)


def best_of(session: Session, user: UserId, exercise: str) -> SubmissionId | None:
    """Return the submission that somebody's best score on an exercise comes from."""
    row, best = SubmissionRow, BestRow
    query = (
        select(row.id)
        .join(best, and_(best.user_id == row.user_id, best.exercise == row.exercise, best.reached == row.created))
        .where(row.user_id == user, row.exercise == exercise)
        .order_by(row.number)
        .limit(1)
    )
    id = session.scalar(query)
    return None if id is None else SubmissionId(id)
