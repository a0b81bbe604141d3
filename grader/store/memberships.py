"""Who belongs to the class and in which role, and the code with which students join it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.store.records import Role, UserId
from grader.store.tables import FIRST_CLASS, ClassRow, MembershipRow, UserRow

LAST = "This is the only instructor. Make somebody else an instructor first."
_Line = tuple[int, str, str, float, float | None]  # user, name, role, joined, ended


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who belongs to the class, or did.

    Attributes:
        id, name: the person.
        role: what they are in the class, or were.
        joined: when they came to it first, in seconds since the epoch.
        ended: when they left; None as long as they belong to it.
    """

    id: UserId
    name: str
    role: Role
    joined: float
    ended: float | None


def code(session: Session) -> str:
    """Return the class code that took the place of the first one; an empty text where none did."""
    return session.scalar(select(ClassRow.code).where(ClassRow.id == FIRST_CLASS)) or ""


def replace_code(session: Session, code: str) -> None:
    """Store another class code, which counts from now on."""
    session.get_one(ClassRow, FIRST_CLASS).code = code


def enter(session: Session, user: UserId, role: Role, now: float) -> None:
    """Make somebody a member in that role, for the first time or again."""
    row = session.get(MembershipRow, (user, FIRST_CLASS))
    if row is None:
        session.add(MembershipRow(user_id=user, class_id=FIRST_CLASS, role=role.value, joined=now))
    else:
        row.role, row.ended = role.value, None
    session.flush()


def end(session: Session, user: UserId, now: float) -> None:
    """End somebody's membership; what they have done stays."""
    session.get_one(MembershipRow, (user, FIRST_CLASS)).ended = now
    session.flush()


def members(session: Session) -> list[Member]:
    """Return everybody who belongs to the class or did, by name."""
    found = [_member(line) for line in session.execute(_query())]
    return sorted(found, key=lambda one: (one.name.casefold(), one.id))


def member(session: Session, user: UserId) -> Member | None:
    """Return one of them."""
    found = session.execute(_query().where(UserRow.id == user)).one_or_none()
    return None if found is None else _member(found)


def instructors(session: Session) -> int:
    """Count the instructors of the class."""
    row = MembershipRow
    present = (row.class_id == FIRST_CLASS, row.role == Role.INSTRUCTOR.value, row.ended.is_(None))
    return session.scalar(select(func.count()).select_from(row).where(*present)) or 0


def check_leaving(session: Session, id: UserId) -> None:
    """Make sure that the class keeps an instructor when this person goes, as long as there is anybody else in it.

    Raises:
        NotAllowed: it would not.
    """
    present = {one.id: one.role for one in members(session) if one.ended is None}
    leaving = present.pop(id, None)
    if leaving is Role.INSTRUCTOR and present and Role.INSTRUCTOR not in present.values():
        raise NotAllowed(LAST)


def _query() -> Select[*_Line]:
    row = MembershipRow
    columns = (UserRow.id, UserRow.name, row.role, row.joined, row.ended)
    return select(*columns).join(row, row.user_id == UserRow.id).where(row.class_id == FIRST_CLASS)


def _member(line: Row[*_Line]) -> Member:
    id, name, role, joined, ended = line
    return Member(UserId(id), name, Role(role), joined, ended)
