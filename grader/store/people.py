"""People: their accounts, sessions and drafts, and what they are in a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, delete, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from grader.errors import NotAllowed
from grader.store import classes, turns
from grader.store.records import BoardName, Draft, Role, User, UserId
from grader.store.tables import (
    INITIAL_CLASS,
    OPEN,
    BestRow,
    ClassRow,
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
LAST = "This is the only instructor. Make somebody else an instructor first."
_RANKS = (Role.LEARNER, Role.STUDENT, Role.ASSISTANT, Role.INSTRUCTOR)  # who may do more comes later
_MemberLine = tuple[int, str, str, float, float | None]  # user, name, role, joined, ended


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


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who belongs to a class, or did.

    Attributes:
        id, name: the person.
        role: what they are in it, or were.
        joined: when they came to it first, in seconds since the epoch.
        ended: when they left; None as long as they belong to it.
    """

    id: UserId
    name: str
    role: Role
    joined: float
    ended: float | None


def add(
    session: Session, name: str, role: Role, *, key: str, password: str, now: float, class_id: int = INITIAL_CLASS
) -> User:
    """Store a new person, their name folded in `key` and the hash of their password, and return them.

    A learner is in no class, everybody else in that one.

    Raises:
        NotAllowed: the name is taken.
    """
    row = UserRow(name=name, key=key, password=password, created=now)
    session.add(row)
    _flush_name(session, name)
    if role is not Role.LEARNER:
        enter_class(session, class_id, UserId(row.id), role, now=now)
    return User(UserId(row.id), name, role, studies=role is Role.STUDENT)


def rename(session: Session, user: UserId, name: str, *, key: str) -> None:
    """Give a person another name, folded in `key`.

    Raises:
        NotAllowed: it is taken, or the person was deleted.
    """
    turns.of_person(session, user)
    row = session.get_one(UserRow, user)
    row.name, row.key, row.renames = name, key, row.renames + 1
    _flush_name(session, name)


def _flush_name(session: Session, name: str) -> None:
    try:
        session.flush()
    except IntegrityError as clash:
        raise NotAllowed(f"The name {name} is taken; please choose another one.") from clash


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
        after: the id up to which everybody was looked at before; 0 to begin anew.
        looked_at: how many people to look at; it takes time for each of them, and not for all there are.
        most: how many visitors to delete at most; each takes time for all they have done.
    """
    ids = session.scalars(select(UserRow.id).where(UserRow.id > after).order_by(UserRow.id).limit(looked_at)).all()
    if not ids:
        return 0
    no_session = ~exists().where(SessionRow.user_id == UserRow.id)
    nothing_open = ~exists().where(SubmissionRow.user_id == UserRow.id, SubmissionRow.state == OPEN)
    visitors = UserRow.id > after, UserRow.id <= ids[-1], UserRow.name == ""
    query = select(UserRow.id).where(*visitors, no_session, nothing_open).order_by(UserRow.id).limit(most)
    # Who is just handing something in is passed over; who has done so meanwhile is seen by the second statement.
    gone = session.scalars(query.with_for_update(skip_locked=True)).all()
    session.execute(delete(UserRow).where(UserRow.id.in_(gone), no_session, nothing_open))
    if len(gone) == most:
        return gone[-1]
    return ids[-1] if len(ids) == looked_at else 0


def delete_person(session: Session, user: UserId) -> None:
    """Delete a person with all that is stored of them."""
    session.execute(delete(UserRow).where(UserRow.id == user))


def names(session: Session, after: int = 0) -> Sequence[tuple[int, str]]:
    """Return the id and the name of everybody who has one and a higher id than `after`, by id."""
    query = select(UserRow.id, UserRow.name).where(UserRow.id > after, UserRow.name != "")
    return [(id, name) for id, name in session.execute(query.order_by(UserRow.id))]


def census(session: Session) -> tuple[int, int]:
    """Return how many people have a name, and how often they were renamed in all."""
    query = select(func.count(), func.coalesce(func.sum(UserRow.renames), 0)).where(UserRow.name != "")
    people, renames = session.execute(query).one()
    return people, renames


def user(session: Session, id: UserId) -> User | None:
    """Return the person of that id."""
    line = session.execute(_users().where(UserRow.id == id)).one_or_none()
    return None if line is None else _user(line)


def role_in(session: Session, class_id: int, user: UserId) -> Role:
    """Return what somebody is in a class now; a learner is in none."""
    row = MembershipRow
    found = session.scalar(select(row.role).where(row.user_id == user, *_present(class_id)))
    return Role(found or Role.LEARNER)


def credentials(session: Session, key: str, email: str = "") -> Credentials | None:
    """Return the person of that folded e-mail address, if it is one, or else of that folded name."""
    known = _credentials(session, UserRow.email == email) if email else None
    return known or _credentials(session, UserRow.key == key)


def credentials_of(session: Session, user: UserId) -> Credentials | None:
    """Return the person of that id, who has a password or may set one."""
    return _credentials(session, and_(UserRow.id == user, UserRow.name != ""))


def _credentials(session: Session, which: ColumnElement[bool]) -> Credentials | None:
    line = session.execute(_users(UserRow.password).where(which)).one_or_none()
    return None if line is None else Credentials(_user(line), line.password)


def replace_password(session: Session, user: UserId, password: str, *, former: str | None = None) -> bool:
    """Store another hash for a person, only in place of `former` if that is given; return whether it was stored."""
    same = (UserRow.id == user,) if former is None else (UserRow.id == user, UserRow.password == former)
    changed = update(UserRow).where(*same).values(password=password).returning(UserRow.id)
    return session.execute(changed).one_or_none() is not None


def set_administrator(session: Session, user: UserId, *, is_one: bool) -> None:
    """Let somebody administer the installation, or do so no longer."""
    session.execute(update(UserRow).where(UserRow.id == user).values(administrator=is_one))


def open_session(session: Session, user: UserId, *, digest: str, now: float, expires: float) -> None:
    """Store a session under the hash of its token; sweep those that have ended, and the person's oldest ones.

    Raises:
        NotAllowed: the person was deleted.
    """
    turns.of_person(session, user)
    ended = select(SessionRow.digest).where(SessionRow.expires <= now).limit(SWEPT).with_for_update(skip_locked=True)
    session.execute(delete(SessionRow).where(SessionRow.digest.in_(session.scalars(ended).all())))
    newest_first = select(SessionRow.digest).where(SessionRow.user_id == user).order_by(SessionRow.created.desc())
    oldest = session.scalars(newest_first.offset(MOST_SESSIONS - 1)).all()
    session.execute(delete(SessionRow).where(SessionRow.digest.in_(oldest)))
    session.add(SessionRow(digest=digest, user_id=user, created=now, expires=expires))


def visit(session: Session, digest: str, now: float) -> Visit | None:
    """Return who is signed in under that hash; None if nobody is any more."""
    line = session.execute(
        _users(SessionRow.expires)
        .join(SessionRow, SessionRow.user_id == UserRow.id)
        .where(SessionRow.digest == digest, SessionRow.expires > now)
    ).one_or_none()
    return None if line is None else Visit(_user(line), line.expires)


def close_session(session: Session, digest: str) -> None:
    """Forget a session."""
    session.execute(delete(SessionRow).where(SessionRow.digest == digest))


def close_sessions(session: Session, user: UserId) -> None:
    """Forget all sessions of a person."""
    session.execute(delete(SessionRow).where(SessionRow.user_id == user))


def keep_draft(session: Session, user: UserId, exercise: str, draft: Draft) -> None:
    """Store what a person is typing, in place of what was kept before."""
    session.merge(DraftRow(user_id=user, exercise=exercise, source=draft.source, saved=draft.saved))


def draft(session: Session, user: UserId, exercise: str) -> Draft | None:
    """Return what a person was typing last."""
    row = session.get(DraftRow, (user, exercise))
    return None if row is None else Draft(row.source, row.saved)


def student_here(class_id: int) -> ColumnElement[bool]:
    """Return the condition that a membership is that of a present student of a class."""
    return and_(*_present(class_id), MembershipRow.role == Role.STUDENT.value)


def is_student(user: InstrumentedAttribute[int], class_id: int) -> ColumnElement[bool]:
    """Return the condition that a person is a student of a class."""
    return exists().where(MembershipRow.user_id == user, student_here(class_id))


def in_class(user: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """Return the condition that a person belongs to a class, in whatever role."""
    row = aliased(MembershipRow)
    return exists().where(row.user_id == user, row.ended.is_(None))


def _present(class_id: int) -> tuple[ColumnElement[bool], ...]:
    return MembershipRow.class_id == class_id, MembershipRow.ended.is_(None)


def is_here_alone(session: Session, class_id: int, user: UserId) -> bool:
    """Return whether somebody was never in another class than this one, and administers nothing.

    Only then may an instructor of that class give a link for a password, or another name: the account is nobody else's.
    """
    row = MembershipRow
    elsewhere = exists().where(row.user_id == user, row.class_id != class_id)
    query = select(UserRow.id).where(UserRow.id == user, ~UserRow.administrator, ~elsewhere)
    return session.scalar(query) is not None


def class_codes(session: Session) -> dict[int, str]:
    """Return the code that was drawn for each class, by the class's id; an empty text where none was."""
    return {id: code or "" for id, code in session.execute(select(ClassRow.id, ClassRow.code).order_by(ClassRow.id))}


def replace_class_code(session: Session, class_id: int, code: str) -> None:
    """Store another class code, which counts from now on."""
    session.get_one(ClassRow, class_id).code = code


def enter_class(session: Session, class_id: int, user: UserId, role: Role, *, now: float) -> None:
    """Make somebody a member in that role, for the first time or again."""
    row = session.get(MembershipRow, (user, class_id))
    if row is None:
        session.add(MembershipRow(user_id=user, class_id=class_id, role=role.value, joined=now))
    else:
        row.role, row.ended = role.value, None
    session.flush()


def members(session: Session, class_id: int) -> list[Member]:
    """Return everybody who belongs to a class or did, by name."""
    return sorted(map(_member, session.execute(_members(class_id))), key=lambda one: (one.name.casefold(), one.id))


def member(session: Session, class_id: int, user: UserId) -> Member | None:
    """Return one of them."""
    line = session.execute(_members(class_id).where(UserRow.id == user)).one_or_none()
    return None if line is None else _member(line)


def classes_of(session: Session, user: UserId, *roles: Role) -> list[int]:
    """Return the ids of the classes to which somebody belongs in one of those roles, the oldest first."""
    row = MembershipRow
    query = select(row.class_id).where(row.user_id == user, row.ended.is_(None), row.role.in_(roles))
    return list(session.scalars(query.order_by(row.class_id)))


def check_leaving(session: Session, id: UserId, *class_ids: int) -> None:
    """Make sure that each class keeps an instructor when this person goes, as long as there is anybody else in it.

    Raises:
        NotAllowed: one would not.
    """
    for class_id in class_ids:
        present = {one.id: one.role for one in members(session, class_id) if one.ended is None}
        leaving = present.pop(id, None)
        if leaving is Role.INSTRUCTOR and present and Role.INSTRUCTOR not in present.values():
            raise NotAllowed(LAST)


def check_instructor_left(session: Session, class_id: int) -> None:
    """Make sure that a class has an instructor.

    Raises:
        NotAllowed: it has none.
    """
    if not classes.has_instructor(session, class_id):
        raise NotAllowed(LAST)


def folded_names(session: Session, class_id: int) -> list[tuple[UserId, str]]:
    """Return everybody who was ever in a class, by id, with the folded name."""
    row = MembershipRow
    query = select(UserRow.id, UserRow.key).join(row, row.user_id == UserRow.id).where(row.class_id == class_id)
    return [(UserId(id), key) for id, key in session.execute(query.order_by(UserRow.id))]


def board_name(session: Session, class_id: int, user: UserId) -> BoardName | None:
    """Return what a student has chosen to be on a class's boards; None for whoever is no student of it."""
    row = MembershipRow
    chosen = session.scalar(select(row.board).where(row.user_id == user, student_here(class_id)))
    return None if chosen is None else BoardName(chosen)


def choose_board_name(session: Session, class_id: int, user: UserId, name: BoardName) -> None:
    """Store what a student wants to be on a class's boards."""
    row = MembershipRow
    session.execute(update(row).where(row.user_id == user, student_here(class_id)).values(board=name.value))


@cache
def _users(*columns: InstrumentedAttribute[Any]) -> Select[Any]:
    """Select people, with the most and the least that they are in any class; kept, since each request asks for one."""
    row = MembershipRow
    rank = case({role.value: place for place, role in enumerate(_RANKS)}, value=row.role)
    mine = (row.user_id == UserRow.id, row.ended.is_(None))
    most, least = (select(which(rank)).where(*mine).scalar_subquery() for which in (func.max, func.min))
    return select(UserRow.id, UserRow.name, most.label("most"), least.label("least"), UserRow.email, *columns)


def _user(line: Row[Any]) -> User:
    studies = line.least is not None and _RANKS[line.least] is Role.STUDENT
    return User(UserId(line.id), line.name, _RANKS[line.most or 0], line.email or "", studies=studies)


def _members(class_id: int) -> Select[*_MemberLine]:
    row = MembershipRow
    columns = (UserRow.id, UserRow.name, row.role, row.joined, row.ended)
    return select(*columns).join(row, row.user_id == UserRow.id).where(row.class_id == class_id)


def _member(line: Row[*_MemberLine]) -> Member:
    id, name, role, joined, ended = line
    return Member(UserId(id), name, Role(role), joined, ended)
