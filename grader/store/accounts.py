"""People, their sessions and their drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.errors import NotAllowed
from grader.store import turns
from grader.store.records import Draft, Role, User, UserId
from grader.store.tables import (
    FIRST_CLASS,
    OPEN,
    BestRow,
    DraftRow,
    MembershipRow,
    MistakeRow,
    SessionRow,
    SubmissionRow,
    TotalRow,
    UserRow,
)

MOST_SESSIONS = 50  # of one person at once
SWEPT = 200  # sessions that have ended, at each that begins; a statement takes only so many values


@dataclass(frozen=True, slots=True)
class Credentials:
    """A person together with the hash of their password."""

    user: User
    password: str

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r})"


@dataclass(frozen=True, slots=True)
class Visit:
    """A signed-in person and when that ends."""

    user: User
    expires: float


def add(session: Session, name: str, role: Role, *, key: str, password: str, now: float) -> User:
    """Store a new person and return them.

    Args:
        session: a write transaction.
        name, role: who they are.
        key: the name folded, so that two names that look alike collide.
        password: its hash.
        now: seconds since the epoch.

    Raises:
        NotAllowed: the name is taken.
    """
    row = UserRow(name=name, key=key, password=password, created=now)
    session.add(row)
    try:
        session.flush()
    except IntegrityError as clash:
        raise NotAllowed(f"The name {name} is taken; please choose another one.") from clash
    if role is not Role.LEARNER:
        session.add(MembershipRow(user_id=row.id, class_id=FIRST_CLASS, role=role.value, joined=now))
        session.flush()
    return User(UserId(row.id), name, role)


def take_over(session: Session, visitor: UserId, owner: UserId) -> None:
    """Make all that a visitor has done somebody's who has done nothing yet; the visitor and their sessions are gone."""
    turns.of_people(session, visitor, owner)
    for row in (SubmissionRow, DraftRow, BestRow, TotalRow, MistakeRow):
        session.execute(update(row).where(row.user_id == visitor).values(user_id=owner))
    session.execute(delete(UserRow).where(UserRow.id == visitor, UserRow.name == ""))


def forget_visitors(session: Session, after: int, *, looked_at: int, most: int) -> int:
    """Delete visitors who have no session any more, with all they have done; return where to go on the next time.

    One whose submission is still on its way is kept until it has come to its end.

    Args:
        session: a write transaction.
        after: the id up to which everybody was looked at before; 0 to begin anew.
        looked_at: how many people to look at; it takes time for each of them, and not for all there are.
        most: how many visitors to delete at most; each takes time for all they have done.
    """
    piece = session.scalars(select(UserRow.id).where(UserRow.id > after).order_by(UserRow.id).limit(looked_at)).all()
    if not piece:
        return 0
    left = ~exists().where(SessionRow.user_id == UserRow.id)
    done = ~exists().where(SubmissionRow.user_id == UserRow.id, SubmissionRow.state == OPEN)
    here = UserRow.id > after, UserRow.id <= piece[-1], UserRow.name == ""
    gone = select(UserRow.id).where(*here, left, done).order_by(UserRow.id).limit(most)
    # Who is just handing something in is passed over; who has done so meanwhile is seen by the second statement.
    found = session.scalars(gone.with_for_update(skip_locked=True)).all()
    session.execute(delete(UserRow).where(UserRow.id.in_(found), left, done))
    if len(found) == most:
        return found[-1]
    return piece[-1] if len(piece) == looked_at else 0


def is_member(user: InstrumentedAttribute[int], role: Role) -> ColumnElement[bool]:
    """Return the condition that a person belongs to the class in that role."""
    row = MembershipRow
    return exists().where(row.user_id == user, row.class_id == FIRST_CLASS, row.role == role.value, row.ended.is_(None))


def in_class(user: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """Return the condition that a person belongs to the class, in whatever role."""
    row = MembershipRow
    return exists().where(row.user_id == user, row.class_id == FIRST_CLASS, row.ended.is_(None))


def names(session: Session, after: int = 0) -> Sequence[tuple[int, str]]:
    """Return the id and the name of everybody who has one and a higher id than `after`, by id."""
    query = select(UserRow.id, UserRow.name).where(UserRow.id > after, UserRow.name != "")
    found = session.execute(query.order_by(UserRow.id))
    return [(id, name) for id, name in found]


def census(session: Session) -> tuple[int, int]:
    """Return how many people have a name, and how often they were renamed in all."""
    query = select(func.count(), func.coalesce(func.sum(UserRow.renames), 0)).where(UserRow.name != "")
    people, renames = session.execute(query).one()
    return people, renames


def rename(session: Session, user: UserId, name: str, *, key: str) -> None:
    """Give a person another name, folded in `key`.

    Raises:
        NotAllowed: it is taken, or the person was deleted.
    """
    turns.of_person(session, user)
    row = session.get_one(UserRow, user)
    row.name, row.key, row.renames = name, key, row.renames + 1
    try:
        session.flush()
    except IntegrityError as clash:
        raise NotAllowed(f"The name {name} is taken; please choose another one.") from clash


def credentials(session: Session, key: str) -> Credentials | None:
    """Return the person of that folded name."""
    found = session.execute(_people(UserRow.password).where(UserRow.key == key)).one_or_none()
    return None if found is None else Credentials(_user(found), found.password)


def credentials_of(session: Session, user: UserId) -> Credentials | None:
    """Return the person of that id, who has a password."""
    found = session.execute(_people(UserRow.password).where(UserRow.id == user, UserRow.password != "")).one_or_none()
    return None if found is None else Credentials(_user(found), found.password)


def replace_password(session: Session, user: UserId, password: str, *, former: str | None = None) -> bool:
    """Store another hash for a person, only in place of `former` if that is given; return whether it was stored."""
    same = (UserRow.id == user,) if former is None else (UserRow.id == user, UserRow.password == former)
    changed = update(UserRow).where(*same).values(password=password).returning(UserRow.id)
    return session.execute(changed).one_or_none() is not None


def open_session(session: Session, user: UserId, *, digest: str, now: float, expires: float) -> None:
    """Store a session under the hash of its token; sweep those that have ended, and the person's oldest ones.

    Raises:
        NotAllowed: the person was deleted.
    """
    turns.of_person(session, user)
    ended = select(SessionRow.digest).where(SessionRow.expires <= now).limit(SWEPT).with_for_update(skip_locked=True)
    session.execute(delete(SessionRow).where(SessionRow.digest.in_(session.scalars(ended).all())))
    kept = select(SessionRow.digest).where(SessionRow.user_id == user).order_by(SessionRow.created.desc())
    older = session.scalars(kept.offset(MOST_SESSIONS - 1)).all()
    session.execute(delete(SessionRow).where(SessionRow.digest.in_(older)))
    session.add(SessionRow(digest=digest, user_id=user, created=now, expires=expires))


def visit(session: Session, digest: str, now: float) -> Visit | None:
    """Return who is signed in under that hash; None if nobody is any more."""
    found = session.execute(
        _people(SessionRow.expires)
        .join(SessionRow, SessionRow.user_id == UserRow.id)
        .where(SessionRow.digest == digest, SessionRow.expires > now)
    ).one_or_none()
    return None if found is None else Visit(_user(found), found.expires)


def close_sessions(session: Session, user: UserId) -> None:
    """Forget all sessions of a person."""
    session.execute(delete(SessionRow).where(SessionRow.user_id == user))


def delete_person(session: Session, user: UserId) -> None:
    """Delete a person with all that is stored of them."""
    session.execute(delete(UserRow).where(UserRow.id == user))


def close_session(session: Session, digest: str) -> None:
    """Forget a session."""
    session.execute(delete(SessionRow).where(SessionRow.digest == digest))


def keep_draft(session: Session, user: UserId, exercise: str, draft: Draft) -> None:
    """Store what a person is typing, in place of what was kept before."""
    session.merge(DraftRow(user_id=user, exercise=exercise, source=draft.source, saved=draft.saved))


def draft(session: Session, user: UserId, exercise: str) -> Draft | None:
    """Return what a person was typing last."""
    row = session.get(DraftRow, (user, exercise))
    return None if row is None else Draft(row.source, row.saved)


def user(session: Session, id: UserId) -> User | None:
    """Return the person of that id."""
    found = session.execute(_people().where(UserRow.id == id)).one_or_none()
    return None if found is None else _user(found)


def _people(*columns: InstrumentedAttribute[Any]) -> Select[Any]:
    """Select people, with what they are in the class."""
    row = MembershipRow
    present = and_(row.user_id == UserRow.id, row.class_id == FIRST_CLASS, row.ended.is_(None))
    return select(UserRow.id, UserRow.name, row.role, *columns).outerjoin(row, present)


def _user(line: Row[Any]) -> User:
    return User(UserId(line.id), line.name, Role(line.role or Role.LEARNER))
