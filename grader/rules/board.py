"""The board of an item: who has the best score, in how many attempts, and how early."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.rules.line import counting
from grader.rules.values import Assignment, Book, Person
from grader.rules.visible import is_visible


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One student on a board. `attempts` are those used up to the best one, with it; `at` is when it was handed in."""

    rank: int
    person: Person
    score: Fraction
    attempts: int
    at: int


def board(book: Book, assignment: Assignment, exercise: str, now: int) -> list[BoardRow]:
    """Return the rows, the best one first: more points, then fewer attempts, then earlier. Equal ones share a rank.

    On it are those who are present, not excused, and may see their own score now.
    """
    found = []
    for person, member in book.members.items():
        if not member.present or book.is_excused(person, assignment.key):
            continue
        if not is_visible(book, person, assignment, now) or not book.is_assigned(person, assignment):
            continue
        tried = sorted(book.attempts_of(person, assignment.key, exercise), key=lambda one: (one.at, one.number))
        spent = [one for one in tried if one.is_used]
        counted = [one for one, _ in counting(book, person, assignment, exercise)]
        if counted:
            best = min(counted, key=lambda one: (-(one.score or 0), one.at, one.number))
            place = (-(best.score or Fraction(0)), spent.index(best) + 1, best.at)
            found.append((place, person))
    rows: list[BoardRow] = []
    for number, (place, person) in enumerate(sorted(found), start=1):
        score, attempts, at = place
        is_equal = bool(rows) and place == (-rows[-1].score, rows[-1].attempts, rows[-1].at)
        rows.append(BoardRow(rows[-1].rank if is_equal else number, person, -score, attempts, at))
    return rows
