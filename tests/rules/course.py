"""A class of one student and few assignments, in which a test changes what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from grader.rules.line import Cell, GradeLine, line_of
from grader.rules.times import instant, zone_of
from grader.rules.values import Assignment, Book, ClassMember, Field, Granted, HandIn, Late, Result

NEW_YORK = zone_of("America/New_York")
LATER = instant(datetime(2027, 6, 1), NEW_YORK)


def at(text: str) -> int:
    """Return the instant of a New York wall time, to the second: `2026-10-09T23:59:59`."""
    wall = datetime.fromisoformat(text)
    return instant(wall.replace(microsecond=0), NEW_YORK) + wall.microsecond // 1000


def late(per_day: str = "0.10", at_most: str = "1", cutoff: int | None = 3, **more: Any) -> Late:
    """Return a policy with shares from decimals."""
    return Late(Fraction(per_day), Fraction(at_most), cutoff=cutoff, **more)


def assignment(key: str = "A-1", due: str = "2026-10-09T23:59", **more: Any) -> Assignment:
    """Return an assignment of one item, `softmax` of 10 points, that takes 10 % of what was earned for each day."""
    items = {name: Fraction(weight) for name, weight in more.pop("items", {"softmax": "10"}).items()}
    sections = {name: datetime.fromisoformat(wall) for name, wall in more.pop("section_due", {}).items()}
    opens = datetime.fromisoformat(more.pop("opens", "2026-09-01T00:00"))
    values = {"made": 0, "late": late(), "section_due": sections, **more}
    return Assignment(key, items, opens, datetime.fromisoformat(due), **values)


def course(*assignments: Assignment, bank: int = 0, section: str = "", joined: str = "2026-09-01T00:00") -> Book:
    """Return the class with its one student, Ada."""
    numbered = {one.key: replace(one, made=number) for number, one in enumerate(assignments)}
    return Book(NEW_YORK, bank, numbered, {"ada": ClassMember("ada", "Ada", section, at(joined))})


def granted(
    book: Book, what: Field, value: Any, assignment: str | None = "A-1", when: str = "2026-09-02T00:00"
) -> Book:
    """Grant Ada an exception."""
    known = datetime.fromisoformat(value) if what is Field.DUE else value
    return replace(book, exceptions={**book.exceptions, ("ada", assignment, what): Granted(known, at(when))})


def tried(book: Book, when: str, score: str = "100", key: str = "A-1", exercise: str = "softmax", **more: Any) -> Book:
    """Add an attempt of Ada's, with the promise of the due time that applies now."""
    mine = book.attempts.get("ada", ())
    promise = more.pop("promise", None) or book.due("ada", book.assignments[key])
    values = {"result": Result.GRADED, "score": Fraction(score), **more}
    made = HandIn(f"h{len(mine) + 1}", key, exercise, len(mine) + 1, at(when), promise, **values)
    return replace(book, attempts={**book.attempts, "ada": (*mine, made)})


def line(book: Book, now: int = LATER) -> GradeLine:
    """Return Ada's line, after all is over unless said otherwise."""
    return line_of(book, "ada", now)


def cell(book: Book, key: str = "A-1", now: int = LATER) -> Cell:
    """Return Ada's cell of an assignment."""
    return line(book, now).cells[key]
