"""Each person's line in the gradebook: what every item got, what it took from the bank, and the total."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from grader.rules.times import DueTime
from grader.rules.values import Assignment, Book, Count, Field, HandIn, Key, Late, Person, Result, ShareOf

HUNDREDTH = Fraction(1, 100)


class CellState(StrEnum):
    """What a cell of the gradebook says besides its points."""

    GRADED = "graded"
    MISSING = "missing"  # nothing counts, and it is too late: no points
    BLANK = "blank"  # nothing counts yet
    EXCUSED = "excused"
    NOT_ASSIGNED = "not_assigned"
    HIDDEN = "hidden"  # to its student, for now


@dataclass(frozen=True, slots=True)
class Scored:
    """What an attempt comes to.

    Attributes:
        weight: the points that its item is worth.
        days_late: of the hand-in, by the due time that applied then or by the present one, whichever is kinder.
        covered: the late days that are taken from the bank for it: no more than gain points.
        earned: the points before the penalty.
        points: those after it, not rounded.
    """

    attempt: HandIn
    weight: Fraction
    days_late: int
    covered: int
    earned: Fraction
    points: Fraction


@dataclass(frozen=True, slots=True)
class Cell:
    """One person's assignment; what there is not is None.

    Attributes:
        points: what counts: the override, or else what was computed; both have two decimals.
        charged: the late days that it takes from the bank.
        possible: the points that it adds to what was possible.
        items: the attempt that counts of each item.
    """

    state: CellState
    points: Fraction | None = None
    computed: Fraction | None = None
    override: Fraction | None = None
    charged: int | None = 0
    possible: Fraction | None = None
    items: Mapping[str, Scored] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GradeLine:
    """One person's line.

    Attributes:
        start, left: the late days of their bank, of which each assignment in its turn finds those `available`.
    """

    person: Person
    cells: Mapping[Key, Cell]
    start: int
    left: int
    available: Mapping[Key, int] = field(default_factory=dict)

    @property
    def total(self) -> Fraction:
        """The points of all cells that have any."""
        return sum((cell.points for cell in self.cells.values() if cell.points is not None), Fraction(0))

    @property
    def possible(self) -> Fraction:
        """What these cells could have had."""
        return sum((cell.possible for cell in self.cells.values() if cell.possible is not None), Fraction(0))

    @property
    def percent(self) -> Fraction | None:
        """The total in per cent of what was possible, not rounded; None if nothing was."""
        return 100 * self.total / self.possible if self.possible else None


def rounded(points: Fraction) -> Fraction:
    """Return points with two decimals; half a hundredth goes up."""
    return math.floor(points * 100 + Fraction(1, 2)) * HUNDREDTH


def compute(book: Book, now: int) -> dict[Person, GradeLine]:
    """Return the line of each member, as it is at the instant `now` with all that is stored."""
    return {person: line_of(book, person, now) for person in book.members}


def line_of(
    book: Book, person: Person, now: int, *, is_hidden: Callable[[Assignment], bool] = lambda _: False
) -> GradeLine:
    """Return one person's line.

    What `is_hidden` is hidden, and all the rest is computed as if each attempt at it had full marks: no number tells
    anything of it.
    """
    left = start = book.bank + book.extra(person, None, Field.BANK_DAYS)
    cells, available = {}, {}
    for assignment in book.in_order():
        available[assignment.key] = left
        hidden = is_hidden(assignment)
        cell = _cell(book, person, assignment, now, bank=left, full=hidden)
        left = max(0, left - (cell.charged or 0))
        cells[assignment.key] = Cell(CellState.HIDDEN, charged=None) if hidden else cell
    return GradeLine(person, cells, start, left, available)


def days_late(assignment: Assignment, attempt: HandIn, due: DueTime) -> int:
    """Return how late an attempt counts: by its promise or by the present due time, whichever is kinder."""
    return min(one.days_late(attempt.at, assignment.grace) for one in (attempt.promise, due))


def counting(
    book: Book, person: Person, assignment: Assignment, exercise: str, *, as_if_graded: bool = False
) -> list[tuple[HandIn, int]]:
    """Return the attempts at an item that count, each with its days late.

    With `as_if_graded` whatever was not cancelled counts, so that nothing tells which could be graded.
    """
    due, cutoff = book.due(person, assignment), assignment.late.cutoff
    late = [
        (one, days_late(assignment, one, due))
        for one in book.attempts_of(person, assignment.key, exercise)
        if not one.aside and (one.result is Result.GRADED or (as_if_graded and one.result is not Result.CANCELLED))
    ]
    return [(one, days) for one, days in late if cutoff is None or days <= cutoff]


def could_count(book: Book, exercise: str) -> set[str]:
    """Return the ids of the attempts at an exercise that count, or would if they and others got another result.

    Those are not of people who have left, are excused or were not assigned the exercise, nor cancelled, set aside, or
    too late.
    """
    return {
        attempt.id
        for assignment in book.assignments.values()
        for person, member in book.members.items()
        if member.present and not book.is_excused(person, assignment.key) and book.is_assigned(person, assignment)
        for attempt, _ in counting(book, person, assignment, exercise, as_if_graded=True)
    }


def _cell(book: Book, person: Person, assignment: Assignment, now: int, *, bank: int, full: bool) -> Cell:
    if book.is_excused(person, assignment.key):
        return Cell(CellState.EXCUSED)
    override = book.overrides.get((person, assignment.key))
    items = {}
    if book.is_assigned(person, assignment):
        for exercise, weight in assignment.items.items():
            scored = [
                _scored(assignment, weight, attempt, days, bank=bank, full=full)
                for attempt, days in counting(book, person, assignment, exercise, as_if_graded=full)
            ]
            if scored:
                items[exercise] = _chosen(scored, assignment.count)
        is_over = now >= book.boundary(person, assignment, assignment.late.cutoff or 0)
        nothing = CellState.MISSING if is_over else CellState.BLANK
        state = CellState.GRADED if items else nothing
    else:
        state = CellState.NOT_ASSIGNED
    computed = None
    if state in (CellState.GRADED, CellState.MISSING):
        computed = rounded(sum((item.points for item in items.values()), Fraction(0)))
    points = computed if override is None else override
    charged = max((item.covered for item in items.values()), default=0)
    return Cell(state, points, computed, override, charged, assignment.possible if points is not None else None, items)


def after_lateness(late: Late, weight: Fraction, earned: Fraction, days: int, *, bank: int) -> tuple[int, Fraction]:
    """Return the late days that are taken from a bank, as few as give the most points, and the points then."""
    base = earned if late.of is ShareOf.EARNED else weight
    covers = range(min(days, late.bank_max, max(bank, 0)) + 1)
    points = [max(Fraction(0), earned - min((days - one) * late.per_day, late.at_most) * base) for one in covers]
    covered = points.index(max(points))
    return covered, points[covered]


def _scored(assignment: Assignment, weight: Fraction, attempt: HandIn, days: int, *, bank: int, full: bool) -> Scored:
    score = Fraction(100) if full else attempt.score or Fraction(0)
    earned = weight * score / 100
    covered, points = after_lateness(assignment.late, weight, earned, days, bank=bank)
    return Scored(attempt, weight, days, covered, earned, points)


def _chosen(scored: list[Scored], count: Count) -> Scored:
    if count is Count.LAST:
        return max(scored, key=lambda one: (one.attempt.at, one.attempt.number))
    return min(scored, key=lambda one: (-one.points, one.covered, one.attempt.at, one.attempt.number))
