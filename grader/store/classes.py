"""Classes: what they are called, their zone and bank, their sections, and who belongs to them in which role.

Whoever is asked about here is named by their e-mail address, or by their folded name where they have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Select, case, delete, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from grader.rules.roster import KnownPerson, RosterRow
from grader.rules.values import Person
from grader.store.records import Role, UserId
from grader.store.tables import ClassRow, MembershipRow, SectionRow, SubmissionRow, UserRow

PERSON = func.coalesce(UserRow.email, UserRow.key)
_LONGEST_KEY, _LONGEST_NAME = 160, 80  # characters of the columns


@dataclass(frozen=True, slots=True)
class SchoolClass:
    """A class. `zone` is the name of its time zone, `bank` the late days that each student has."""

    id: int
    key: str
    name: str
    zone: str
    bank: int
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Membership:
    """What somebody is in a class, or was; `sections` are those that an assistant looks after."""

    user: UserId
    person: Person
    role: Role
    present: bool
    section: str = ""
    sections: tuple[str, ...] = ()


def every_class(session: Session) -> list[SchoolClass]:
    """Return all classes, the oldest first."""
    return [_class(session, row) for row in session.scalars(select(ClassRow).order_by(ClassRow.id))]


def find_class(session: Session, key: str, *, lock: bool = False) -> SchoolClass | None:
    """Return the class of that key; with `lock` whoever else would change it waits up to the transaction's end."""
    query = select(ClassRow).where(ClassRow.key == key)
    row = session.scalar(query.with_for_update(key_share=True) if lock else query)
    return None if row is None else _class(session, row)


def class_of_id(session: Session, id: int) -> SchoolClass:
    """Return the class of that id, which there is."""
    return _class(session, session.get_one(ClassRow, id))


def add_class(session: Session, one: SchoolClass, now: float) -> SchoolClass:
    """Store a new class, whose key is free, and return it with its id."""
    row = ClassRow(key=one.key, name=one.name, zone=one.zone, bank=one.bank, created=now)
    session.add(row)
    session.flush()
    session.add_all(SectionRow(class_id=row.id, name=name) for name in one.sections)
    session.flush()
    return replace(one, id=row.id)


def change_class(session: Session, one: SchoolClass) -> None:
    """Store a class's name, zone, bank and sections as they are now."""
    row = session.get_one(ClassRow, one.id)
    row.name, row.zone, row.bank = one.name, one.zone, one.bank
    session.execute(delete(SectionRow).where(SectionRow.class_id == one.id))
    session.add_all(SectionRow(class_id=row.id, name=name) for name in one.sections)
    session.flush()


def find_person(session: Session, person: Person) -> UserId | None:
    """Return the id of whoever is named so."""
    id = session.scalar(select(UserRow.id).where(UserRow.email == person))
    if id is None:
        id = session.scalar(select(UserRow.id).where(UserRow.key == person, UserRow.name != ""))
    return None if id is None else UserId(id)


def person_of(session: Session, user: UserId) -> Person:
    """Return how somebody is named."""
    return str(session.scalars(select(PERSON).where(UserRow.id == user)).one())


def is_administrator(session: Session, user: UserId) -> bool:
    """Return whether somebody administers the installation."""
    return bool(session.scalar(select(UserRow.administrator).where(UserRow.id == user)))


def add_person(session: Session, email: str, name: str, now: float) -> UserId:
    """Store somebody who has no account yet, without a password, and return their id."""
    # The key is one that no name has: names begin with no space.
    key = f" {email}" if len(email) < _LONGEST_KEY else f" {sha256(email.encode()).hexdigest()}"
    row = UserRow(name=name[:_LONGEST_NAME], key=key, password="", created=now, email=email)
    session.add(row)
    session.flush()
    return UserId(row.id)


def without_password(session: Session, class_id: int) -> list[UserId]:
    """Return the members of a class who have no password yet, of those who were in no other class before.

    Whoever gives them a link could use it: another class's instructor is to have no part in that, nor in the account of
    somebody who teaches elsewhere.
    """
    row, other = MembershipRow, aliased(MembershipRow)
    is_before, is_staff = other.joined < row.joined, other.role != Role.STUDENT.value
    elsewhere = exists().where(other.user_id == row.user_id, other.class_id != class_id, or_(is_before, is_staff))
    query = (
        select(UserRow.id)
        .join(row, row.user_id == UserRow.id)
        .where(row.class_id == class_id, row.ended.is_(None), UserRow.password == "", UserRow.email.is_not(None))
        .where(~elsewhere)
    )
    return [UserId(id) for id in session.scalars(query.order_by(PERSON))]


def membership(session: Session, class_id: int, user: UserId) -> Membership | None:
    """Return what somebody is in a class, or was."""
    line = session.execute(_memberships(class_id).where(MembershipRow.user_id == user)).one_or_none()
    return None if line is None else _membership(line)


def memberships(session: Session, class_id: int) -> list[Membership]:
    """Return everybody who belongs to a class or did."""
    found = [_membership(line) for line in session.execute(_memberships(class_id))]
    return sorted(found, key=lambda one: one.person)  # a database sorts as its own language does


def classes_of(session: Session, user: UserId) -> list[tuple[SchoolClass, Membership]]:
    """Return the classes to which somebody belongs now, with what they are there."""
    row = MembershipRow
    query = select(ClassRow).join(row, row.class_id == ClassRow.id).where(row.user_id == user, row.ended.is_(None))
    found = []
    for one in session.scalars(query.order_by(ClassRow.id)):
        known = membership(session, one.id, user)
        assert known is not None
        found.append((_class(session, one), known))
    return found


def appoint(
    session: Session,
    class_id: int,
    user: UserId,
    role: Role,
    *,
    sections: Iterable[str] = (),
    now: float,
    name: str = "",
) -> None:
    """Give somebody a role in a class, in which they may be already; `name` is how the class calls them."""
    row = session.get(MembershipRow, (user, class_id))
    if row is None:
        row = MembershipRow(user_id=user, class_id=class_id, joined=now)
        session.add(row)
    row.role, row.sections, row.ended, row.name = role.value, "\n".join(sections), None, name or row.name or ""
    session.flush()


def enrol(session: Session, class_id: int, user: UserId, line: RosterRow, *, now: float) -> None:
    """Make somebody a student of a class, or keep them one, as a line of a roster has them."""
    row = session.get(MembershipRow, (user, class_id))
    if row is None:
        row = MembershipRow(user_id=user, class_id=class_id, joined=now, role=Role.STUDENT.value)
        session.add(row)
    if row.ended is not None:  # whoever was staff, and has left, comes back as what the roster lists
        row.role, row.sections = Role.STUDENT.value, ""
    row.ended, row.section, row.name = None, line.section, line.name
    row.number, row.lms_id = line.number or row.number or "", line.lms_id or row.lms_id or ""


def set_presence(session: Session, class_id: int, user: UserId, *, ended: float | None) -> None:
    """Let a membership end at a time, or go on."""
    session.get_one(MembershipRow, (user, class_id)).ended = ended
    session.flush()


def set_section(session: Session, class_id: int, user: UserId, section: str) -> None:
    """Move a member into another section."""
    session.get_one(MembershipRow, (user, class_id)).section = section
    session.flush()


def has_instructor(session: Session, class_id: int) -> bool:
    """Return whether somebody teaches a class now."""
    row = MembershipRow
    query = select(row.user_id).where(row.class_id == class_id, row.ended.is_(None), row.role == Role.INSTRUCTOR.value)
    return session.scalar(query.limit(1)) is not None


def known_people(session: Session, class_id: int, emails: Sequence[str]) -> list[KnownPerson]:
    """Return everybody of a class, and whoever else has one of the e-mail addresses."""
    row = MembershipRow
    columns = (PERSON, UserRow.email, row.name, row.section, row.number, row.lms_id, row.role, row.ended)
    query = select(*columns).join(row, row.user_id == UserRow.id).where(row.class_id == class_id)
    known = [
        KnownPerson(
            person, email or "", name, section, number, lms_id,
            is_present=ended is None, is_staff=role != Role.STUDENT.value and ended is None,
        )
        for person, email, name, section, number, lms_id, role, ended in session.execute(query)
    ]  # fmt: skip
    here = {one.person for one in known}
    for first in range(0, len(emails), 500):  # a statement takes only so many values
        others = select(UserRow.email).where(UserRow.email.in_(emails[first : first + 500]))
        found = [one for one in session.scalars(others) if one is not None and one not in here]
        known += [KnownPerson(one, one, is_member=False, is_present=False) for one in found]
    return known


def contacts(session: Session, class_id: int) -> dict[Person, tuple[str, str, str]]:
    """Return by what others know each member: their e-mail address, number, and the learning platform's id."""
    row = MembershipRow
    query = select(PERSON, UserRow.email, row.number, row.lms_id).join(row, row.user_id == UserRow.id)
    found = session.execute(query.where(row.class_id == class_id))
    return {person: (email or "", number, lms_id) for person, email, number, lms_id in found}


def is_unused(session: Session) -> bool:
    """Return whether the installation has neither a person nor a submission."""
    return session.scalar(select(UserRow.id).limit(1)) is None and (
        session.scalar(select(SubmissionRow.id).limit(1)) is None
    )


def _class(session: Session, row: ClassRow) -> SchoolClass:
    sections = session.scalars(select(SectionRow.name).where(SectionRow.class_id == row.id))
    # Sorted here: a database sorts as its own language does.
    return SchoolClass(row.id, row.key, row.name, row.zone, row.bank, tuple(sorted(sections)))


def _memberships(class_id: int) -> Select[Any]:
    row = MembershipRow
    present = case((row.ended.is_(None), 1), else_=0)
    return (
        select(row.user_id, PERSON, row.role, present, row.section, row.sections)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.class_id == class_id)
    )


def _membership(line: Sequence[Any]) -> Membership:
    user, person, role, present, section, sections = line
    return Membership(
        UserId(user), person, Role(role), bool(present), section, tuple(sections.split("\n")) if sections else ()
    )
