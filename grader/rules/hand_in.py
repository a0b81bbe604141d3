"""Whether a hand-in is taken, and whether one that was taken may be set aside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.rules.times import DueTime
from grader.rules.values import Assignment, Book, Field, Key, Person


class WhyNot(StrEnum):
    """Why a hand-in is not taken, or a request not granted. Nothing is used up, and a draft is kept."""

    UNKNOWN = "unknown"
    NOT_MEMBER = "not_member"
    NOT_OPEN = "not_open"
    CLOSED = "closed"
    NO_ATTEMPTS = "no_attempts"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A hand-in that counts for an assignment: how many days late it is, and the due time that it is promised."""

    days_late: int
    promise: DueTime


@dataclass(frozen=True, slots=True)
class Practice:
    """A hand-in that counts for nothing but practice."""


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """A hand-in that is not taken; `used` are the attempts, where there are none left."""

    code: WhyNot
    used: int | None = None


def hand_in(
    book: Book, person: Person, assignment: Key | None, exercise: str, *, at: int
) -> Accepted | Practice | NotAccepted:
    """Return what becomes of a hand-in at the instant `at`. Who is no student of the class only practises."""
    member = book.members.get(person)
    if member is not None and not member.present:
        return NotAccepted(WhyNot.NOT_MEMBER)
    if member is None or assignment is None:
        return Practice()
    found = book.assignments.get(assignment)
    if found is None or exercise not in found.items:
        return NotAccepted(WhyNot.UNKNOWN)
    if not book.is_assigned(person, found):
        return Practice()
    due = book.due(person, found)
    if at < DueTime(found.opens, book.zone).at:
        return NotAccepted(WhyNot.NOT_OPEN)
    days, cutoff = due.days_late(at, found.grace), found.late.cutoff
    if cutoff is not None and days > cutoff:
        return NotAccepted(WhyNot.CLOSED)
    limit, spent = limit_of(book, person, found), used(book, person, found.key, exercise)
    if limit is not None and spent >= limit:
        return NotAccepted(WhyNot.NO_ATTEMPTS, spent)
    return Accepted(days, due)


def limit_of(book: Book, person: Person, assignment: Assignment) -> int | None:
    """Return how many attempts the person has at each item, with the extra ones; None: no limit."""
    if assignment.attempts is None:
        return None
    return assignment.attempts + book.extra(person, assignment.key, Field.ATTEMPTS)


def used(book: Book, person: Person, assignment: Key, exercise: str) -> int:
    """Return how many attempts were accepted and not free; open ones count, and those set aside stay used."""
    return sum(one.is_used for one in book.attempts_of(person, assignment, exercise))


def may_set_aside(book: Book, person: Person, assignment: Assignment, at: int) -> bool:
    """Return whether the person may set an attempt aside, or take that back: until nothing is taken any more."""
    cutoff = assignment.late.cutoff
    return cutoff is None or at < book.boundary(person, assignment, cutoff)
