"""What a student is told before they hand in: where it goes, how late it is, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.rules.hand_in import Accepted, NotAccepted, Practice, hand_in, limit_of, used
from grader.rules.line import after_lateness
from grader.rules.values import Assignment, Book, Person, Result, ShareOf
from grader.rules.visible import is_visible, own_line


@dataclass(frozen=True, slots=True)
class Offer:
    """What becomes of a hand-in at an item now.

    Attributes:
        days_late: of the hand-in; 0 for one that counts for nothing.
        covered: the late days that its bank would give an answer of full marks.
        bank: the late days that are left for this assignment.
        lost: the share of the points that lateness costs with these late days.
        lost_without: the share that it costs without any.
        of: what these are shares of.
        attempts_left: how many attempts the student has left at it; None: as many as they like.
    """

    taken: Accepted | Practice | NotAccepted
    days_late: int
    covered: int
    bank: int
    lost: Fraction
    lost_without: Fraction
    of: ShareOf
    attempts_left: int | None


def offer(book: Book, person: Person, assignment: Assignment, exercise: str, *, at: int) -> Offer:
    """Return what becomes of a hand-in at the instant `at`; nothing in it depends on a hidden result."""
    taken = hand_in(book, person, assignment.key, exercise, at=at)
    days = taken.days_late if isinstance(taken, Accepted) else 0
    bank = own_line(book, person, at).available.get(assignment.key, 0) if person in book.members else 0
    late, full = assignment.late, Fraction(100)
    covered, _ = after_lateness(late, full, full, days, bank=bank)
    limit = limit_of(book, person, assignment)
    if is_visible(book, person, assignment, at):
        spent = used(book, person, assignment.key, exercise)
    else:  # whether an attempt could be graded is a result as well
        tried = book.attempts_of(person, assignment.key, exercise)
        spent = sum(one.result is not Result.CANCELLED for one in tried)
    left = None if limit is None else max(0, limit - spent)
    lost, lost_without = (min((days - one) * late.per_day, late.at_most) for one in (covered, 0))
    return Offer(taken, days, covered, bank, lost=lost, lost_without=lost_without, of=late.of, attempts_left=left)
