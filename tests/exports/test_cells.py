"""No text of a class becomes a formula, whatever separator a spreadsheet splits the file at."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.exports.cells import BYTE_ORDER_MARK, quoted, table
from grader.exports.tables import Contact, Gradebook, canvas, csv_of, moodle
from grader.pages import gradebook
from grader.rules.line import compute
from grader.rules.times import DueTime, instant, zone_of
from grader.rules.values import Assignment, Book, ClassMember, HandIn, Result
from grader.store.records import UserId

HOSTILE = (
    '=HYPERLINK("http://x","Kim")', "+1", "-1", "@SUM(A1)", "\t=1+1", " =1+1", "\u00a0=1+1", "\uff1d1+1", "\u2a751+1",
    "x;=1+1", "x; =1+1", "x\t=1+1", "x,=1+1", "x|=1+1", "x;+1", "x;-1", "x;@SUM(A1)", "x\uff1b=1+1", ";=1+1;", ";;=1+1",
    'x";=1+1;"', 'x;"=1+1', 'x;"""=1+1', 'say "=1+1"', '"=1+1"', '"', '";"', "x;'=1+1",
    "x\n=1+1", "x\r=1+1", "x\r\n=1+1", "x\x0b=1+1", "x\x85=1+1", "x\u2028=1+1",
    'DDE("cmd";"/C calc")', "=cmd|' /C calc'!A0",
)  # fmt: skip
UTC, DUE = zone_of("UTC"), datetime(2026, 9, 20, 23, 59)
FILTERS = {"comma": "44", "semicolon": "59", "tab": "9", "any of them": "44/59/9/124"}  # LibreOffice's, for separators


def _exports() -> dict[str, str]:
    """Return each file of a class in which every text that a person has written is hostile."""
    at = instant(DUE, UTC) - 1
    people = {f"p{number}": ClassMember(f"p{number}", text, text, 0) for number, text in enumerate(HOSTILE)}
    work = {
        person: (HandIn("h", "H-1", "softmax", 1, at, DueTime(DUE, UTC), Result.GRADED, Fraction("82.5")),)
        for person in people
    }
    assignments = {"H-1": Assignment("H-1", {"softmax": Fraction(10)}, datetime(2026, 9, 1), DUE, 1, title="Ü")}
    for number, text in enumerate(HOSTILE):
        assignments[f"K{number}"] = replace(assignments["H-1"], key=f"K{number}", title=text)
    book = Book(UTC, 2, assignments, people, work)
    contacts = {person: Contact(one.name, one.name, one.name) for person, one in people.items()}
    one = Gradebook(book, compute(book, at), contacts)
    rows = [gradebook.Row(UserId(number), text, (82.5,), 1) for number, text in enumerate(HOSTILE)]
    files = {"csv": csv_of(one).text, "canvas": canvas(one).text, "moodle": moodle(one).text}
    return {**files, "exercises": gradebook.csv_of(["softmax"], rows).removeprefix(BYTE_ORDER_MARK)}


def _risky(text: str) -> list[str]:
    """Return what would be a formula if each line was split at each separator there is, and no quote held anything."""
    cells = [cell for line in text.splitlines() for cell in re.split(r"[,;|\t]", line)]
    return [cell for cell in cells if cell.lstrip(' "\u00a0').startswith(("=", "+", "-", "@", "\uff1d"))]


def test_the_look_for_formulas_finds_them() -> None:
    harmless = {'say "=1+1"', "x\uff1b=1+1", "\u2a751+1", "x;'=1+1", '"', '";"', 'DDE("cmd";"/C calc")'}

    assert {text for text in HOSTILE if not _risky(text)} == harmless


def test_no_text_of_a_class_begins_a_formula_wherever_a_line_is_split() -> None:
    """Names, sections, addresses, ids and titles, in each file; a person has one line, and points stay numbers."""
    files = _exports()

    assert [(name, cell) for name, text in files.items() for cell in _risky(text)] == []
    lines = {name: len(text.splitlines()) for name, text in files.items()}
    assert lines == {"csv": 1 + len(HOSTILE), "canvas": 2 + len(HOSTILE), "moodle": 1 + len(HOSTILE),
                     "exercises": 1 + len(HOSTILE)}  # fmt: skip
    assert files["csv"].count(",8.25,0,") == files["canvas"].count(",8.25,") == len(HOSTILE)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="=+-@;,|\t\r\n\v\u2028\x85 \u00a0\uff1d\"'a1"), min_size=1, max_size=3))
def test_whatever_is_written_is_one_line_without_formulas(texts: list[str]) -> None:
    made = table([[*map(quoted, texts), "8.25"]])

    assert (_risky(made), len(made.splitlines())) == ([], 1)


@pytest.mark.parametrize(
    "text", ["Ada", "Anna-Maria", "a+b@uni.example", "Łódź, 2nd; group", "50 % = half", "O'Neil", ""]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert quoted(text) == text


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("separator", FILTERS)
def test_libreoffice_finds_no_formula(tmp_path: Path, separator: str) -> None:
    """Split at commas, what is a number is one as well; a formula as it was typed is found, so the look can fail."""
    files = {**_exports(), "typed": "\n".join(f"{text},8.25,{text}" for text in HOSTILE)}
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(BYTE_ORDER_MARK + text, encoding="utf-8", newline="")
    subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", "fods",
         f"--infilter=CSV:{FILTERS[separator]},34,76,1", "--outdir", tmp_path,
         *(tmp_path / f"{name}.csv" for name in files)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    sheets = {name: (tmp_path / f"{name}.fods").read_text(encoding="utf-8") for name in files}

    formulas = {name: [html.unescape(one) for one in re.findall(r'table:formula="([^"]*)"', sheet)]
                for name, sheet in sheets.items()}  # fmt: skip
    assert formulas.pop("typed") != []
    assert formulas == {name: [] for name in formulas}
    if separator == "comma":
        assert sheets["csv"].count('office:value="8.25"') == 2 * len(HOSTILE)  # of the assignment, and the total
