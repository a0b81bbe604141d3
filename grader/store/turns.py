"""Who writes after whom, where several write at once.

On SQLite a write transaction has the database to itself. On Postgres many run at once, and each statement sees what was
committed before it. So whoever reads something in order to write takes the turn of those whom it concerns before it
reads: of the class, where its members or names change, or of a person, where their work, drafts or sessions do. A turn
is the row of the class or the person, locked up to the end of the transaction; on SQLite it is only looked for.

Turns come before every other lock of a transaction, the class before people, and people by their ids. So no two
transactions wait for each other.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.store.records import SubmissionId, UserId
from grader.store.tables import INITIAL_CLASS, ClassRow, GradingRow, SubmissionRow, UserRow

GONE = "This account was deleted."


def of_class(session: Session) -> None:
    """Take the turn of whatever concerns who belongs to a class, and names: it is the same for all classes."""
    session.scalar(select(ClassRow.id).where(ClassRow.id == INITIAL_CLASS).with_for_update(key_share=True))


def of_person(session: Session, user: UserId) -> None:
    """Take the turn of a person.

    Raises:
        NotAllowed: there is no such person any more.
    """
    if not _locked(session, user):
        raise NotAllowed(GONE)


def of_people(session: Session, *users: UserId) -> None:
    """Take the turns of those who are still there."""
    _lock_all(session, UserRow.id.in_(users))


def of_change(session: Session, change: int) -> None:
    """Take the turns of those whose submissions were graded once more for a change."""
    graded = select(GradingRow.submission_id).where(GradingRow.change_id == change)
    theirs = select(SubmissionRow.user_id).where(SubmissionRow.id.in_(graded))
    _lock_all(session, UserRow.id.in_(theirs))


def of_owner(session: Session, id: SubmissionId) -> UserId | None:
    """Take the turn of whoever has handed a submission in, and return who that is; None if it was deleted."""
    query = select(SubmissionRow.user_id).where(SubmissionRow.id == id)
    while (owner := session.scalar(query)) is not None:
        # A visitor's submission may have become somebody's with an account while this waited for the visitor.
        if _locked(session, UserId(owner)) and session.scalar(query) == owner:
            return UserId(owner)
    return None


def _lock_all(session: Session, which: ColumnElement[bool]) -> None:
    there = select(UserRow.id).where(which).order_by(UserRow.id)
    session.scalars(there.with_for_update(key_share=True)).all()


def _locked(session: Session, user: UserId) -> bool:
    query = select(UserRow.id).where(UserRow.id == user).with_for_update(key_share=True)
    return session.scalar(query) is not None
