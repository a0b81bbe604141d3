"""A class's gradebook as a spreadsheet, Canvas and Moodle take it.

All have one row for each student who is in the class now. Points are the override, or else what was computed, with two
decimals, a point, and nothing between the thousands: Canvas would read `1,234.00` as 1.234. Texts are safe to open in a
spreadsheet. What Canvas and Moodle do with a row that they cannot place is worse than to lack it: the one guesses by
name, the other takes no row at all. So who has nothing by which that platform finds people is left out, and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.exports.cells import quoted, table
from grader.rules.line import Cell, CellState, GradeLine
from grader.rules.sentences import two_decimals
from grader.rules.values import Assignment, Book, Person

_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_POINTS_POSSIBLE = "    Points Possible"  # with the blanks that Canvas writes itself
_EXCUSED = "EX"


@dataclass(frozen=True, slots=True)
class Contact:
    """By what others know somebody: their e-mail address, and the registrar's and the platform's id; empty if unknown.

    Attributes:
        number: the student number, Canvas' `SIS User ID` and Moodle's `idnumber`.
        lms_id: the id of the learning platform's own.
    """

    email: str = ""
    number: str = ""
    lms_id: str = ""


@dataclass(frozen=True, slots=True)
class Gradebook:
    """A class as it is exported: its book, the lines of those who are in it now, and by what others know them."""

    book: Book
    lines: Mapping[Person, GradeLine]
    contacts: Mapping[Person, Contact]


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of a file, and who is not in it since the platform could not know them."""

    text: str
    left_out: tuple[Person, ...] = ()


def csv_of(one: Gradebook) -> Exported:
    """Return the gradebook for a spreadsheet.

    After e-mail, name and section come the points of each assignment and the late days that it takes from the bank,
    both empty where there is nothing yet, then the sums and the late days that are left.
    """
    names = [name for each in _named(one.book) for name in (each, f"{each} days")]
    sums = ("total", "possible", "percent", "late days left")
    rows = [["email", "name", "section", *map(quoted, names), *sums]]
    for person, line in one.lines.items():
        member = one.book.members[person]
        cells = [text for cell in line.cells.values() for text in (_number(cell.points), _days(cell))]
        texts = (one.contacts[person].email, member.name, member.section)
        totals = (_number(line.total), _number(line.possible), _number(line.percent), str(line.left))
        rows.append([*map(quoted, texts), *cells, *totals])
    return Exported(table(rows))


def canvas(one: Gradebook, *, missing_as_zero: bool = False) -> Exported:
    """Return the gradebook as Canvas imports it: five fixed columns, a column for each assignment, and their points.

    `EX` excuses, and an empty cell changes nothing there: so is what is missing, or with `missing_as_zero` 0.00.
    """
    assignments = one.book.in_order()
    possible = [two_decimals(each.possible) for each in assignments]
    rows = [[*_CANVAS, *map(quoted, _named(one.book))], [_POINTS_POSSIBLE, "", "", "", "", *possible]]
    left_out = []
    for person, line in one.lines.items():
        member, known = one.book.members[person], one.contacts[person]
        if not (known.email or known.number or known.lms_id):
            left_out.append(person)
            continue
        texts = (member.name, known.lms_id, known.number, known.email, member.section)
        cells = [_canvas_cell(cell, missing_as_zero=missing_as_zero) for cell in line.cells.values()]
        rows.append([*map(quoted, texts), *cells])
    return Exported(table(rows), tuple(left_out))


def moodle(one: Gradebook) -> Exported:
    """Return the gradebook as Moodle imports it: e-mail, `idnumber`, and a column for each assignment.

    What is missing is 0.00; an empty cell is no grade.
    """
    rows = [["email", "idnumber", *map(quoted, _named(one.book))]]
    left_out = []
    for person, line in one.lines.items():
        known = one.contacts[person]
        if not known.email:
            left_out.append(person)
            continue
        cells = [_number(cell.points) for cell in line.cells.values()]
        rows.append([*map(quoted, (known.email, known.number)), *cells])
    return Exported(table(rows), tuple(left_out))


def _named(book: Book) -> Sequence[str]:
    """Return what each column is called, in the order of the bank: the title, with the key where two are alike."""
    assignments = book.in_order()
    times = Counter(_title(one) for one in assignments)
    return [_title(one) if times[_title(one)] == 1 else f"{_title(one)} {one.key}" for one in assignments]


def _title(one: Assignment) -> str:
    return one.title or one.key


def _canvas_cell(cell: Cell, *, missing_as_zero: bool) -> str:
    if cell.state is CellState.EXCUSED:
        return _EXCUSED
    if cell.state is CellState.MISSING and cell.override is None and not missing_as_zero:
        return ""
    return _number(cell.points)


def _number(value: Fraction | None) -> str:
    return "" if value is None else two_decimals(value)


def _days(cell: Cell) -> str:
    return "" if cell.points is None else str(cell.charged or 0)
