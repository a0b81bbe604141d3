"""What a change of any kind would do to a class: its book is computed without and with it, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from grader.rules.line import Cell, GradeLine, compute
from grader.rules.values import Book, Key, Person


@dataclass(frozen=True, slots=True)
class Changed:
    """A cell whose points, computed points or state a change would change; None where there is no such assignment."""

    person: Person
    assignment: Key
    before: Cell | None
    after: Cell | None

    @property
    def is_held(self) -> bool:
        """Whether what is computed changes behind an override."""
        if self.before is None or self.after is None or self.after.override is None:
            return False
        return self.before.computed != self.after.computed


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do.

    Attributes:
        banks: the late days left, before and after, of whose bank changes.
        above: the overrides that would come to lie above what is possible, as their items are worth less.
    """

    cells: tuple[Changed, ...]
    banks: Mapping[Person, tuple[int, int]]
    above: Mapping[tuple[Person, Key], Fraction]

    @property
    def people(self) -> set[Person]:
        """Whose cells or bank would change."""
        return {one.person for one in self.cells} | set(self.banks)


def preview(before: Book, after: Book, now: int) -> Preview:
    """Compare two books; of the people who are in the class in both."""
    old, new = compute(before, now), compute(after, now)
    present = [one for one in old if one in new and before.members[one].present and after.members[one].present]
    cells = tuple(change for person in present for change in _changed(old[person], new[person]))
    banks = {one: (old[one].left, new[one].left) for one in present if old[one].left != new[one].left}
    was, is_now = _above(before), _above(after)
    above = {at: is_now[at] for at in is_now if at not in was and at[0] in present}
    return Preview(cells, banks, above)


def _above(book: Book) -> dict[tuple[Person, Key], Fraction]:
    possible = {one.key: one.possible for one in book.assignments.values()}
    return {at: points for at, points in book.overrides.items() if points > possible[at[1]]}


def _changed(old: GradeLine, new: GradeLine) -> Iterable[Changed]:
    for key in dict.fromkeys((*old.cells, *new.cells)):
        before, after = old.cells.get(key), new.cells.get(key)
        if _compared(before) != _compared(after):
            yield Changed(old.person, key, before, after)


def _compared(cell: Cell | None) -> tuple[object, ...]:
    return () if cell is None else (cell.state, cell.points, cell.computed)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Mean and median of some numbers, and how many are full or zero."""

    n: int
    mean: Fraction | None
    median: Fraction | None
    full: int
    zero: int


def figures(values: Iterable[Fraction], full: Fraction) -> Statistics:
    """Return the figures of `values`, which are not rounded before; what is more than `full` is full as well."""
    all_of = list(values)
    if not all_of:
        return Statistics(0, None, None, 0, 0)
    middle = Fraction(median(all_of))
    reached = sum(one >= full for one in all_of)  # an override stays when its items are worth less
    return Statistics(len(all_of), sum(all_of, Fraction(0)) / len(all_of), middle, reached, all_of.count(Fraction(0)))


def percents(lines: Iterable[GradeLine]) -> Statistics:
    """Return the figures of the percents of all who have one."""
    return figures((line.percent for line in lines if line.percent is not None), Fraction(100))


def points(lines: Iterable[GradeLine], book: Book, assignment: Key) -> Statistics:
    """Return the figures of the points at one assignment, as they are shown."""
    cells = (line.cells[assignment] for line in lines)
    return figures((cell.points for cell in cells if cell.points is not None), book.assignments[assignment].possible)
