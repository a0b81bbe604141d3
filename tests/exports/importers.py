"""How Canvas and Moodle read a file of grades, written down from their importers' rules and not from ours."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping
from decimal import Decimal

Grade = Decimal | str | None  # `EX`; None: nothing changes


class ImportAborted(Exception):
    """The platform takes nothing of the file."""


def read_by_canvas(text: str) -> tuple[dict[str, Decimal], dict[str, dict[str, Grade]]]:
    """Return the points possible of each assignment, and the grades of each person by the id that Canvas goes by."""
    lines = text.splitlines()
    separator = ";" if all(line.count(";") > line.count(",") for line in lines[:3]) else ","
    head, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    if "Student" not in head[0] or head[1] != "ID" or "Section" not in head:
        raise ImportAborted(f"no gradebook: {head}")
    fixed = head.index("Section") + 1
    possible: dict[str, Decimal] = {}
    found: dict[str, dict[str, Grade]] = {}
    for row in rows:
        cells = [_canvas_number(cell) for cell in row]
        graded = dict(zip(head[fixed:], cells[fixed:], strict=True))
        if "Points Possible" in row[0]:
            possible = {name: Decimal(cell) for name, cell in graded.items()}
            continue
        ids = [cell for cell in row[1 : fixed - 1] if cell]
        if not ids:
            raise ImportAborted(f"somebody is guessed by name: {row[0]}")
        found[ids[0]] = {name: _canvas_grade(cell) for name, cell in graded.items()}
    return possible, found


def _canvas_number(cell: str) -> str:
    """Drop all separators but the last, which becomes the point: `1,234` is 1.234."""
    if not re.fullmatch(r"[0-9.,]+%?", cell):
        return cell
    whole, separator, rest = re.fullmatch(r"(.*?)([.,]?)([0-9]*%?)", cell, re.DOTALL).groups()  # type: ignore[union-attr]
    return re.sub(r"[.,]", "", whole) + (separator and ".") + rest


def _canvas_grade(cell: str) -> Grade:
    if cell in ("", "-"):
        return None
    if cell.upper() == "EX":
        return "EX"
    return Decimal(cell).quantize(Decimal("0.01"))


def read_by_moodle(
    text: str, known: Collection[str], most: Mapping[str, Decimal]
) -> dict[str, dict[str, Decimal | None]]:
    """Return the grades of each person by e-mail address; one unknown person or one grade too high ends it all."""
    found: dict[str, dict[str, Decimal | None]] = {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        email = row.pop("email")
        row.pop("idnumber")
        if email not in known:
            raise ImportAborted(f"unknown user {email!r}")
        grades = {name: None if cell in ("", "-") else Decimal(cell) for name, cell in row.items()}
        for name, grade in grades.items():
            if grade is not None and grade > most[name]:
                raise ImportAborted(f"{grade} is above the maximum of {name}")
        found[email] = grades
    return found
