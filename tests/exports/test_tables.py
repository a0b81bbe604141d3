"""Gradebooks as files, read back by the rules of those who import them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from grader.exports.tables import Contact, Exported, Gradebook, canvas, csv_of, moodle
from grader.rules.line import compute
from grader.rules.times import DueTime, instant, zone_of
from grader.rules.values import Assignment, Book, ClassMember, Field, Granted, HandIn, Late, Result
from tests.exports.importers import ImportAborted, read_by_canvas, read_by_moodle

BERLIN = zone_of("Europe/Berlin")
FORMULA = '=HYPERLINK("http://x","Kim")'
BEGIN, END = datetime(2026, 9, 1), datetime(2026, 12, 31)
MOST = {"Essay": Decimal(1500), "H-2": Decimal("12.50")}


def _at(wall: datetime) -> int:
    return instant(wall, BERLIN)


def _handed_in(id: str, assignment: str, wall: datetime, score: str) -> HandIn:
    promise = DueTime(datetime(2026, 9, 20, 23, 59), BERLIN)
    return HandIn(id, assignment, "softmax", 1, _at(wall), promise, Result.GRADED, Fraction(score))


def _gradebook() -> Gradebook:
    """Return a class in which every state of a cell occurs: graded, late, overridden, excused, missing, n/a, blank."""
    late = Late(per_day=Fraction(1, 10), bank_max=2, cutoff=3)
    essay = Assignment(
        "H-1", {"softmax": Fraction(1500)}, BEGIN, datetime(2026, 9, 20, 23, 59), 1, title="Essay", late=late
    )
    second = Assignment("H-2", {"softmax": Fraction("12.5")}, BEGIN, datetime(2026, 10, 20, 23, 59), 2, late=late)
    people = {
        "ada@uni.example": ClassMember("ada@uni.example", "Ada; Countess, of Łódź", "H1", _at(BEGIN)),
        "ben@uni.example": ClassMember("ben@uni.example", "Ben", "H1", _at(BEGIN)),
        "kim@uni.example": ClassMember("kim@uni.example", FORMULA, "H2", _at(BEGIN)),
        "lea@uni.example": ClassMember("lea@uni.example", "Lea", "H2", _at(datetime(2026, 10, 1))),
        "moe@uni.example": ClassMember("moe@uni.example", "Moe", "H1", _at(BEGIN)),
        "quy@uni.example": ClassMember("quy@uni.example", "Quy", "H1", _at(BEGIN), present=False),
        "zoe": ClassMember("zoe", "Zoe", "", _at(BEGIN)),
    }
    attempts = {
        "ada@uni.example": (_handed_in("a1", "H-1", datetime(2026, 9, 20, 12), "82.27"),),
        "ben@uni.example": (
            _handed_in("b1", "H-1", datetime(2026, 9, 22, 12), "100"),
            _handed_in("b2", "H-2", datetime(2026, 9, 22, 12), "33.33"),
        ),
        "quy@uni.example": (_handed_in("q1", "H-1", datetime(2026, 9, 20, 12), "100"),),
    }
    book = Book(
        BERLIN, 3, {"H-1": essay, "H-2": second}, people, attempts,
        exceptions={("kim@uni.example", "H-1", Field.EXCUSED): Granted(1, _at(BEGIN))},
        overrides={("ben@uni.example", "H-2"): Fraction("7.5")},
    )  # fmt: skip
    lines = {person: line for person, line in compute(book, _at(END)).items() if people[person].present}
    contacts = {person: Contact(person if "@" in person else "") for person in lines}
    contacts["ada@uni.example"] = Contact("ada@uni.example", "0042", "901")
    contacts["moe@uni.example"] = Contact("moe@uni.example", "", "902")
    return Gradebook(book, lines, contacts)


def _moved(when: datetime) -> Gradebook:
    """Return the same class as it is at another time."""
    one = _gradebook()
    lines = compute(one.book, _at(when))
    return replace(one, lines={person: lines[person] for person in one.lines})


def _cells(made: Exported) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.text, newline="")))


def test_canvas_reads_each_state_as_it_is_meant() -> None:
    """Graded, late with days from the bank, overridden, excused, not assigned and missing; found by id first."""
    possible, grades = read_by_canvas(canvas(_gradebook()).text)

    assert possible == MOST
    assert grades == {
        "901": {"Essay": Decimal("1234.05"), "H-2": None},
        "ben@uni.example": {"Essay": Decimal("1500.00"), "H-2": Decimal("7.50")},
        "kim@uni.example": {"Essay": "EX", "H-2": None},
        "lea@uni.example": {"Essay": None, "H-2": None},
        "902": {"Essay": None, "H-2": None},
    }


def test_what_is_missing_becomes_zero_in_canvas_on_demand_and_nothing_else_does() -> None:
    """An excused cell stays so, and one that was due before its person joined stays empty."""
    _, grades = read_by_canvas(canvas(_gradebook(), missing_as_zero=True).text)

    zero = Decimal("0.00")
    assert [one["Essay"] for one in grades.values()] == [Decimal("1234.05"), Decimal(1500), "EX", None, zero]
    assert [one["H-2"] for one in grades.values()] == [zero, Decimal("7.50"), zero, zero, zero]


def test_what_is_not_due_yet_is_no_zero_anywhere() -> None:
    """Blank is blank, with zeros for what is missing too; an override counts before."""
    early = _moved(datetime(2026, 10, 10))

    canvas_says = read_by_canvas(canvas(early, missing_as_zero=True).text)[1]
    moodle_says = read_by_moodle(moodle(early).text, early.lines, MOST)
    assert [one["H-2"] for one in canvas_says.values()] == [None, Decimal("7.50"), None, None, None]
    assert [one["H-2"] for one in moodle_says.values()] == [None, Decimal("7.50"), None, None, None]
    assert [row[5:7] for row in _cells(csv_of(early))[1:4]] == [["", ""], ["7.50", "0"], ["", ""]]


def test_moodle_takes_every_row() -> None:
    """Zero for what is missing, nothing for what is excused or not assigned, and only people whom it can know."""
    one = _gradebook()

    grades = read_by_moodle(moodle(one).text, [each for each in one.lines if "@" in each], MOST)

    zero = Decimal("0.00")
    assert grades == {
        "ada@uni.example": {"Essay": Decimal("1234.05"), "H-2": zero},
        "ben@uni.example": {"Essay": Decimal(1500), "H-2": Decimal("7.50")},
        "kim@uni.example": {"Essay": None, "H-2": zero},
        "lea@uni.example": {"Essay": None, "H-2": zero},
        "moe@uni.example": {"Essay": zero, "H-2": zero},
    }
    assert moodle(one).text.splitlines()[1].startswith("ada@uni.example,0042,")


def test_the_reading_of_moodle_can_fail() -> None:
    """An unknown person aborts it, and so does a grade above the maximum."""
    text = moodle(_gradebook()).text

    with pytest.raises(ImportAborted, match="unknown user 'ben@"):
        read_by_moodle(text, ["ada@uni.example"], MOST)
    with pytest.raises(ImportAborted, match="above the maximum of Essay"):
        read_by_moodle(text, _gradebook().lines, {"Essay": Decimal(1499), "H-2": Decimal(99)})


def test_the_reading_of_canvas_can_fail() -> None:
    """A separator of thousands makes a thousandth of a grade, and a row without an id is refused."""
    text = canvas(_gradebook()).text

    assert read_by_canvas(text.replace("1500.00,7.50", '"1,500",7.50'))[1]["ben@uni.example"]["Essay"] == Decimal("1.5")
    with pytest.raises(ImportAborted, match="guessed by name"):
        read_by_canvas(text.replace("ben@uni.example", ""))
    with pytest.raises(ImportAborted, match="no gradebook"):
        read_by_canvas(text.replace("Student,ID", "Name,ID"))


def test_who_cannot_be_known_is_left_out_and_named() -> None:
    """Zoe has neither e-mail address nor id: Canvas would guess by name, and Moodle would take nobody."""
    one = _gradebook()

    assert (canvas(one).left_out, moodle(one).left_out, csv_of(one).left_out) == (("zoe",), ("zoe",), ())
    assert "Zoe" not in canvas(one).text
    assert "Zoe" in csv_of(one).text


def test_whoever_has_left_is_in_no_file() -> None:
    """Quy's work is kept, and exported nowhere."""
    one = _gradebook()

    assert [made.text.count("Quy") + made.text.count("quy@") for made in (csv_of(one), canvas(one), moodle(one))] == [
        0, 0, 0
    ]  # fmt: skip


def test_the_table_for_spreadsheets_has_points_days_and_sums() -> None:
    """Ben's two days come from the bank; what is excused or was not assigned is empty, and missing is zero."""
    head, *rows = _cells(csv_of(_gradebook()))

    assert ",".join(head) == "email,name,section,Essay,Essay days,H-2,H-2 days,total,possible,percent,late days left"
    assert [row[3:] for row in rows] == [
        ["1234.05", "0", "0.00", "0", "1234.05", "1512.50", "81.59", "3"],
        ["1500.00", "2", "7.50", "0", "1507.50", "1512.50", "99.67", "1"],
        ["", "", "0.00", "0", "0.00", "12.50", "0.00", "3"],
        ["", "", "0.00", "0", "0.00", "12.50", "0.00", "3"],
        ["0.00", "0", "0.00", "0", "0.00", "1512.50", "0.00", "3"],
        ["0.00", "0", "0.00", "0", "0.00", "1512.50", "0.00", "3"],
    ]


@pytest.mark.parametrize("make", [csv_of, canvas, moodle])
def test_no_cell_is_a_formula_or_has_a_separator_of_thousands(make: object) -> None:
    """Wherever a text may stand: names, sections, titles, ids."""
    one = _gradebook()
    odd = Contact("+ada@uni.example", "=1+1", "@SUM(A1)")
    book = replace(
        one.book,
        members={**one.book.members, "ada@uni.example": ClassMember("ada@uni.example", "-2+3", "\t=cmd", 0)},
        assignments={key: replace(each, title=f"=A{key}") for key, each in one.book.assignments.items()},
    )
    made = make(Gradebook(book, one.lines, {**one.contacts, "ada@uni.example": odd}))  # type: ignore[operator]

    cells = [cell for row in _cells(made) for cell in row]
    assert [cell for cell in cells if cell.strip().startswith(("=", "+", "-", "@", "\t"))] == []
    assert [cell for cell in cells if re.search(r"\d,\d{3}", cell)] == []
    assert "'=AH-1" in cells
    assert "'+ada@uni.example" in cells
    assert ('\'=HYPERLINK("http://x","Kim")' in cells) == (make is not moodle)


def test_columns_of_one_title_have_different_names() -> None:
    """Canvas would take the second for the first one."""
    one = _gradebook()
    alike = {key: replace(each, title="Homework") for key, each in one.book.assignments.items()}
    book = replace(one.book, assignments=alike)

    assert list(read_by_canvas(canvas(replace(one, book=book)).text)[0]) == ["Homework H-1", "Homework H-2"]
