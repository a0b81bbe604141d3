"""A class as values: its assignments, members, attempts, and what was granted to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from zoneinfo import ZoneInfo

from grader.rules.times import DueTime, instant, wall_of

Person = str  # whatever the store tells people apart by
Key = str  # an assignment's, within its class


class ShareOf(StrEnum):
    """What a penalty is a share of."""

    EARNED = "earned"
    POSSIBLE = "possible"


class Count(StrEnum):
    """Which of a person's attempts counts."""

    BEST = "best"
    LAST = "last"


class Show(StrEnum):
    """From when on a student sees results, by their own due time."""

    AT_ONCE = "at_once"
    AFTER_DUE = "after_due"
    AFTER_CUTOFF = "after_cutoff"
    AFTER_PUBLICATION = "after_publication"
    NEVER = "never"


class Result(StrEnum):
    """What has become of an attempt."""

    OPEN = "open"  # it waits, or is being graded
    GRADED = "graded"
    FREE = "free"  # it could not be graded, or an error of ours ended it: it uses up no attempt and does not count
    CANCELLED = "cancelled"


class Field(StrEnum):
    """What an exception changes for one person."""

    DUE = "due"
    ATTEMPTS = "attempts"
    EXCUSED = "excused"
    STANDING_DAYS = "standing_days"
    BANK_DAYS = "bank_days"


@dataclass(frozen=True, slots=True)
class Late:
    """What lateness costs.

    Attributes:
        per_day: the share of points that each day costs which no late day of the bank covers.
        at_most: the largest share that lateness costs.
        of: what these are shares of.
        bank_max: how many late days one hand-in may take from the bank.
        cutoff: after how many days nothing is taken any more; None: never.
    """

    per_day: Fraction = Fraction(0)
    at_most: Fraction = Fraction(1)
    of: ShareOf = ShareOf.EARNED
    bank_max: int = 0
    cutoff: int | None = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be handed in, until when, and how it counts.

    Attributes:
        items: the points that each exercise is worth.
        due: the class's; a section may have its own in `section_due`.
        grace: minutes after the due minute that still count as in time.
        attempts: how many a student has at each item; None: as many as they like.
        show_checks: parts of a report, by dimension, that are to be seen later than the rest.
        published: the instant of the publication; None: not yet.
        held: whom the publication does not reach.
        made: its place in the order in which the class's assignments were made.
    """

    key: Key
    items: Mapping[str, Fraction]
    opens: datetime
    due: datetime
    made: int
    title: str = ""
    section_due: Mapping[str, datetime] = field(default_factory=dict)
    grace: int = 0
    late: Late = Late()
    count: Count = Count.BEST
    attempts: int | None = None
    show: Show = Show.AT_ONCE
    show_checks: Mapping[str, Show] = field(default_factory=dict)
    published: int | None = None
    held: frozenset[Person] = frozenset()

    @property
    def possible(self) -> Fraction:
        """The points of all items together."""
        return sum(self.items.values(), Fraction(0))


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A student of the class.

    Attributes:
        joined: the instant at which they first joined; who comes back keeps it.
        present: whether they are in the class now.
    """

    person: Person
    name: str
    section: str
    joined: int
    present: bool = True


@dataclass(frozen=True, slots=True)
class HandIn:
    """A hand-in to an item that was accepted.

    Attributes:
        number: the person's count of attempts; the lower one came first.
        at: the instant at which the whole request was there.
        promise: the personal due time that applied then.
        score: of 100, with two decimals; None while there is none.
    """

    id: str
    assignment: Key
    exercise: str
    number: int
    at: int
    promise: DueTime
    result: Result = Result.OPEN
    score: Fraction | None = None
    aside: bool = False

    @property
    def is_used(self) -> bool:
        """Whether it uses up an attempt; an open one does, and one that is set aside."""
        return self.result in (Result.OPEN, Result.GRADED)


@dataclass(frozen=True, slots=True)
class Granted:
    """An exception: its value, a due time being a wall time of the class's zone, and the instant of its granting."""

    value: datetime | int
    at: int


@dataclass(frozen=True, slots=True)
class Book:
    """Everything that a class's grades follow from.

    Attributes:
        exceptions: by person, assignment (None: the class) and field; of each there is one.
        overrides: the points that replace what was computed, by person and assignment.
    """

    zone: ZoneInfo
    bank: int
    assignments: Mapping[Key, Assignment]
    members: Mapping[Person, ClassMember]
    attempts: Mapping[Person, tuple[HandIn, ...]] = field(default_factory=dict)
    exceptions: Mapping[tuple[Person, Key | None, Field], Granted] = field(default_factory=dict)
    overrides: Mapping[tuple[Person, Key], Fraction] = field(default_factory=dict)

    def in_order(self) -> list[Assignment]:
        """Return the assignments as the bank goes through them: by the class's due time, then as they were made."""
        return sorted(self.assignments.values(), key=lambda one: (DueTime(one.due, self.zone).at, one.made))

    def granted(self, person: Person, assignment: Key | None, what: Field) -> Granted | None:
        """Return the person's exception of this kind."""
        return self.exceptions.get((person, assignment, what))

    def extra(self, person: Person, assignment: Key | None, what: Field) -> int:
        """Return how many days or attempts the person was granted on top; 0 if none."""
        granted = self.granted(person, assignment, what)
        return granted.value if granted is not None and isinstance(granted.value, int) else 0

    def boundary(self, person: Person, assignment: Assignment, days: int) -> int:
        """Return the first instant at which the person's hand-in is more than `days` days late."""
        return self.due(person, assignment).boundary(days, assignment.grace)

    def due(self, person: Person, assignment: Assignment) -> DueTime:
        """Return the person's own due time.

        It is the latest of the section's, that with the person's standing days if it lies after the moment they were
        granted, and the person's extension; so an extension never shortens.
        """
        base = assignment.section_due.get(self.members[person].section, assignment.due)
        dues = [DueTime(base, self.zone)]
        standing = self.granted(person, None, Field.STANDING_DAYS)
        if standing is not None:
            days = timedelta(days=self.extra(person, None, Field.STANDING_DAYS))
            longer = DueTime(base + days, self.zone)
            dues += [longer] if longer.at > standing.at else []
        extension = self.granted(person, assignment.key, Field.DUE)
        if extension is not None and isinstance(extension.value, datetime):
            dues.append(DueTime(extension.value, self.zone))
        return max(dues, key=lambda due: due.at)

    def attempts_of(self, person: Person, assignment: Key, exercise: str = "") -> list[HandIn]:
        """Return the person's attempts at an assignment, or at one exercise of it."""
        mine = (one for one in self.attempts.get(person, ()) if one.assignment == assignment)
        return [one for one in mine if not exercise or one.exercise == exercise]

    def is_excused(self, person: Person, assignment: Key) -> bool:
        """Return whether the person need not hand this in."""
        granted = self.granted(person, assignment, Field.EXCUSED)
        return granted is not None and bool(granted.value)

    def is_assigned(self, person: Person, assignment: Assignment) -> bool:
        """Return whether the person was there before the end, or has handed in under an extension."""
        return self.boundary(person, assignment, 0) > self.members[person].joined or bool(
            self.attempts_of(person, assignment.key)
        )


def moved_by_weeks(one: Assignment, weeks: int, zone: ZoneInfo) -> Assignment:
    """Return an assignment for another term: on the same days of the week, at the same times on the wall.

    A minute that the clock skips then becomes the one after the gap. Nothing of it is published.

    Raises:
        OverflowError: a date would be in no year from 1 to 9999.
    """

    def moved(wall: datetime) -> datetime:
        return wall_of(instant(wall + timedelta(weeks=weeks), zone), zone)

    opens = moved(one.opens)  # a gap may put it behind a due time that was just after it
    section_due = {section: max(opens, moved(due)) for section, due in one.section_due.items()}
    due = max(opens, moved(one.due))
    return replace(one, opens=opens, due=due, section_due=section_due, published=None, held=frozenset())
