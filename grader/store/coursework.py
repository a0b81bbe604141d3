"""What a class's grades follow from, as rows: assignments, what was granted to whom, and the attempts.

Everything here speaks the values of `grader.rules`; only this module knows how they are stored.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from grader.judge.report import Status
from grader.rules.times import DueTime, zone_of
from grader.rules.values import (
    Assignment,
    Book,
    ClassMember,
    Count,
    Field,
    Granted,
    HandIn,
    Key,
    Late,
    Person,
    Result,
    ShareOf,
    Show,
)
from grader.store import standings, turns
from grader.store.classes import PERSON, SchoolClass
from grader.store.records import Role, State, SubmissionId, UserId
from grader.store.standings import FREE
from grader.store.tables import (
    OPEN,
    AssignmentRow,
    ExceptionRow,
    GradingRow,
    HeldRow,
    ItemRow,
    MembershipRow,
    OverrideRow,
    SectionDueRow,
    SubmissionRow,
    UserRow,
)

_MINUTE = "%Y-%m-%dT%H:%M"


def milliseconds(at: float) -> int:
    """Return a stored time as whole milliseconds: rounded to microseconds, and then cut."""
    return round(at * 1_000_000) // 1000


def book(session: Session, one: SchoolClass, user: UserId | None = None) -> Book:
    """Return everything that the grades of a class follow from, or those of one person in it."""
    found = assignments(session, one.id)
    keys = {id: assignment.key for id, assignment in found.items()}
    return Book(
        zone=zone_of(one.zone),
        bank=one.bank,
        assignments={assignment.key: assignment for assignment in found.values()},
        members=_members(session, one.id, user),
        attempts=_attempts(session, keys, user),
        exceptions=_exceptions(session, one.id, keys, user),
        overrides=_overrides(session, keys, user),
    )


def assignment_id(session: Session, class_id: int, key: Key) -> int | None:
    """Return the id of a class's assignment."""
    row = AssignmentRow
    return session.scalar(select(row.id).where(row.class_id == class_id, row.key == key))


def revision_of(session: Session, id: int) -> int:
    """Return how often an assignment was made or changed."""
    return session.scalars(select(AssignmentRow.revision).where(AssignmentRow.id == id)).one()


def save_assignment(session: Session, class_id: int, one: Assignment, id: int | None = None) -> int:
    """Store a new assignment, or another state of one; return its revision. Whom it is held back from stays."""
    row = (
        AssignmentRow(class_id=class_id, key=one.key, revision=0) if id is None else session.get_one(AssignmentRow, id)
    )
    late = one.late
    row.title, row.grace, row.count, row.attempts, row.show = one.title, one.grace, one.count, one.attempts, one.show
    row.opens, row.due = wall_text(one.opens), wall_text(one.due)
    row.per_day, row.at_most = int(late.per_day * 10_000), int(late.at_most * 10_000)
    row.share_of, row.bank_max, row.cutoff = late.of, late.bank_max, late.cutoff
    row.show_checks = json.dumps(dict(one.show_checks))
    row.revision += 1
    session.add(row)
    session.flush()
    for part in (ItemRow, SectionDueRow):
        session.execute(delete(part).where(part.assignment_id == row.id))
    session.add_all(
        ItemRow(assignment_id=row.id, exercise=exercise, position=place, weight=int(weight * 100))
        for place, (exercise, weight) in enumerate(one.items.items())
    )
    session.add_all(
        SectionDueRow(assignment_id=row.id, section=section, due=wall_text(due))
        for section, due in one.section_due.items()
    )
    session.flush()
    return row.revision


def publish(session: Session, id: int, held: Iterable[UserId], now: float) -> None:
    """Publish an assignment's results, but to those held back; one that was published stays so from then on."""
    row = session.get_one(AssignmentRow, id)
    row.published = now if row.published is None else row.published
    session.execute(delete(HeldRow).where(HeldRow.assignment_id == id))
    session.add_all(HeldRow(assignment_id=id, user_id=user) for user in held)
    session.flush()


def release(session: Session, id: int, user: UserId) -> None:
    """Hold a publication back from somebody no longer."""
    session.execute(delete(HeldRow).where(HeldRow.assignment_id == id, HeldRow.user_id == user))


def grant(
    session: Session, class_id: int, user: UserId, *, assignment: int | None, what: Field, value: datetime | int | None,
    reason: str, by: UserId | None, now: float,
) -> None:  # fmt: skip
    """Store an exception, which takes the place of the person's former one of its kind; None withdraws that."""
    text = wall_text(value) if isinstance(value, datetime) else None if value is None else str(value)
    row = ExceptionRow(
        class_id=class_id, user_id=user, assignment_id=assignment, field=what.value, value=text, reason=reason, by=by,
        at=now,
    )  # fmt: skip
    session.add(row)
    session.flush()


def override(
    session: Session, user: UserId, assignment: int, points: Fraction | None, *,
    reason: str, by: UserId | None, now: float,
) -> int:  # fmt: skip
    """Store points in place of a cell's computed ones, or withdraw them; return the cell's revision."""
    hundredths = None if points is None else int(points * 100)
    session.add(OverrideRow(assignment_id=assignment, user_id=user, points=hundredths, reason=reason, by=by, at=now))
    session.flush()
    return override_revision(session, user, assignment)


def override_revision(session: Session, user: UserId, assignment: int) -> int:
    """Return how many overrides were given or withdrawn at a cell."""
    row = OverrideRow
    query = select(func.count()).select_from(row).where(row.user_id == user, row.assignment_id == assignment)
    return session.scalar(query) or 0


def last_override(session: Session, user: UserId, assignment: int) -> tuple[Fraction | None, str, UserId | None]:
    """Return the points of a cell's latest override, its reason, and who gave it."""
    row = OverrideRow
    query = select(row.points, row.reason, row.by).where(row.user_id == user, row.assignment_id == assignment)
    found = session.execute(query.order_by(row.id.desc()).limit(1)).one_or_none()
    if found is None:
        return None, "", None
    return _points(found.points), found.reason, None if found.by is None else UserId(found.by)


def items_of(session: Session, user: UserId, exercise: str) -> list[tuple[int, Key]]:
    """Return the assignments with an exercise in the classes in which somebody studies now: class and key."""
    return [(class_id, key) for class_id, key in session.execute(_items(), {"user": user, "exercise": exercise})]


def hiding_classes(session: Session, user: UserId) -> list[int]:
    """Return the classes for whose assignments somebody has handed in, and whose results may be hidden from them."""
    return list(session.scalars(_hiding(), {"user": user}))


@cache  # these two: each hand-in and each look at one asks, and to build a query takes as long as to run it
def _items() -> Select[int, Key]:
    row, member = AssignmentRow, MembershipRow
    return (
        select(row.class_id, row.key)
        .join(ItemRow, ItemRow.assignment_id == row.id)
        .join(member, member.class_id == row.class_id)
        .where(ItemRow.exercise == bindparam("exercise"), member.user_id == bindparam("user"))
        .where(member.ended.is_(None), member.role == Role.STUDENT.value)
        .order_by(row.class_id, row.id)
    )


@cache
def _hiding() -> Select[int]:
    row, own = AssignmentRow, SubmissionRow
    query = select(row.class_id).join(own, own.assignment_id == row.id).where(own.user_id == bindparam("user"))
    return query.where(~standings.OPEN_RESULT).distinct()


def refresh_standings(session: Session, assignment: int) -> None:
    """Bring the caches of all who have handed in to an assignment up to date."""
    row = SubmissionRow
    query = select(row.user_id, row.exercise).where(row.assignment_id == assignment).distinct()
    lines = session.execute(query).all()
    turns.of_people(session, *{UserId(user) for user, _ in lines})  # else a verdict could store the same lines at once
    for user, exercise in lines:
        standings.refresh(session, UserId(user), exercise)


def assign_submission(session: Session, id: SubmissionId, assignment: int, promise: DueTime) -> None:
    """Let a submission count for an assignment, with the due time that its person was promised."""
    row = session.get_one(SubmissionRow, id)
    row.assignment_id, row.promised_due, row.promised_zone = assignment, wall_text(promise.wall), promise.zone.key
    session.flush()


def set_aside(session: Session, id: SubmissionId, *, aside: bool) -> None:
    """Let a submission count no longer, or again."""
    session.execute(update(SubmissionRow).where(SubmissionRow.id == id).values(aside=aside))


def place_of(session: Session, id: SubmissionId) -> tuple[UserId, int | None, Key] | None:
    """Return whose submission it is, and the class and key of its assignment: None and an empty text for practice."""
    row, of = SubmissionRow, AssignmentRow
    query = select(row.user_id, of.class_id, of.key).outerjoin(of, of.id == row.assignment_id)
    found = session.execute(query.where(row.id == id)).one_or_none()
    return None if found is None else (UserId(found[0]), found[1], found[2] or "")


def wall_text(wall: datetime) -> str:
    """Return a minute on the wall as it is stored: `2026-10-09T23:59`."""
    return wall.strftime(_MINUTE)


def wall_time(text: str) -> datetime:
    """Return a stored minute on the wall; ValueError for any other text."""
    wall = datetime.strptime(text, _MINUTE)
    if wall_text(wall) != text:
        raise ValueError(text)
    return wall


def _points(hundredths: int | None) -> Fraction | None:
    return None if hundredths is None else Fraction(hundredths, 100)


def assignments(session: Session, class_id: int) -> dict[int, Assignment]:
    """Return a class's assignments by their ids, in the order in which they were made."""
    rows = session.scalars(select(AssignmentRow).where(AssignmentRow.class_id == class_id).order_by(AssignmentRow.id))
    found = {row.id: _assignment(row) for row in rows}
    items: dict[int, dict[str, Fraction]] = defaultdict(dict)
    dues: dict[int, dict[str, datetime]] = defaultdict(dict)
    held: dict[int, set[Person]] = defaultdict(set)
    row, of_class = AssignmentRow, AssignmentRow.class_id == class_id
    query = select(ItemRow).join(row, row.id == ItemRow.assignment_id).where(of_class)
    for item in session.scalars(query.order_by(ItemRow.position)):
        items[item.assignment_id][item.exercise] = Fraction(item.weight, 100)
    for due in session.scalars(select(SectionDueRow).join(row, row.id == SectionDueRow.assignment_id).where(of_class)):
        dues[due.assignment_id][due.section] = wall_time(due.due)
    people = select(HeldRow.assignment_id, PERSON).join(row, row.id == HeldRow.assignment_id)
    for id, person in session.execute(people.join(UserRow, UserRow.id == HeldRow.user_id).where(of_class)):
        held[id].add(person)
    return {
        id: replace(one, items=items[id], section_due=dues[id], held=frozenset(held[id])) for id, one in found.items()
    }


def _assignment(row: AssignmentRow) -> Assignment:
    late = Late(
        Fraction(row.per_day, 10_000), Fraction(row.at_most, 10_000), ShareOf(row.share_of), row.bank_max, row.cutoff
    )
    return Assignment(
        key=row.key, items={}, opens=wall_time(row.opens), due=wall_time(row.due), made=row.id, title=row.title,
        grace=row.grace, late=late, count=Count(row.count), attempts=row.attempts, show=Show(row.show),
        show_checks={name: Show(show) for name, show in json.loads(row.show_checks).items()},
        published=None if row.published is None else milliseconds(row.published),
    )  # fmt: skip


def _members(session: Session, class_id: int, user: UserId | None) -> dict[Person, ClassMember]:
    row = MembershipRow
    query = (
        select(PERSON.label("person"), UserRow.name, row.name, row.section, row.joined, row.ended)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.class_id == class_id, row.role == Role.STUDENT.value, *_only(row.user_id, user))
    )
    return {
        person: ClassMember(person, called or name, section, milliseconds(joined), ended is None)
        for person, name, called, section, joined, ended in sorted(session.execute(query), key=itemgetter(0))
    }


def _attempts(session: Session, keys: Mapping[int, Key], user: UserId | None) -> dict[Person, tuple[HandIn, ...]]:
    row, grading = SubmissionRow, GradingRow
    columns = (
        PERSON, row.id, row.assignment_id, row.exercise, row.number, row.created, row.promised_due, row.promised_zone,
        row.state, row.aside, grading.status, grading.score, grading.incident,
    )  # fmt: skip
    query = (
        select(*columns)
        .join(UserRow, UserRow.id == row.user_id)
        .outerjoin(grading, grading.id == row.current_grading)
        .where(row.assignment_id.in_(keys), *_only(row.user_id, user))
        .order_by(row.created, row.number)
    )
    found: dict[Person, list[HandIn]] = defaultdict(list)
    for person, id, assignment, exercise, number, created, due, zone, state, aside, *graded in session.execute(query):
        result, score = result_of(state, *graded)
        promise = DueTime(wall_time(due or ""), zone_of(zone or ""))
        found[person].append(
            HandIn(id, keys[assignment or 0], exercise, number, milliseconds(created), promise, result, score, aside)
        )
    return {person: tuple(attempts) for person, attempts in found.items()}


def result_of(
    state: str, status: str | None, score: float | None, incident: str | None
) -> tuple[Result, Fraction | None]:
    """Return what became of a submission by its state and its grading, and its score with two decimals."""
    if state == State.CANCELLED.value:
        return Result.CANCELLED, None
    if state == OPEN or status is None:
        return Result.OPEN, None
    if Status(status) in FREE or incident:
        return Result.FREE, None
    return Result.GRADED, Fraction(round((score or 0.0) * 100), 100)


def _exceptions(
    session: Session, class_id: int, keys: Mapping[int, Key], user: UserId | None
) -> dict[tuple[Person, Key | None, Field], Granted]:
    row = ExceptionRow
    query = (
        select(PERSON, row.assignment_id, row.field, row.value, row.at)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.class_id == class_id, *_only(row.user_id, user))
        .order_by(row.id)
    )
    found: dict[tuple[Person, Key | None, Field], Granted] = {}
    for person, assignment, field, value, at in session.execute(query):
        cell = (person, None if assignment is None else keys[assignment], Field(field))
        if value is None:
            found.pop(cell, None)
        else:
            granted = wall_time(value) if cell[2] is Field.DUE else int(value)
            found[cell] = Granted(granted, milliseconds(at))
    return found


def _overrides(session: Session, keys: Mapping[int, Key], user: UserId | None) -> dict[tuple[Person, Key], Fraction]:
    """Return the latest of each cell that was not withdrawn."""
    row = OverrideRow
    query = (
        select(PERSON, row.assignment_id, row.points)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.assignment_id.in_(keys), *_only(row.user_id, user))
        .order_by(row.id)
    )
    latest = {(person, keys[assignment]): points for person, assignment, points in session.execute(query)}
    return {cell: Fraction(points, 100) for cell, points in latest.items() if points is not None}


def _only(column: Any, user: UserId | None) -> tuple[Any, ...]:
    return () if user is None else (column == user,)
