"""What a student sees of a class: assignments with their own due times, what a hand-in costs now, and their points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from grader.rules.hand_in import Accepted, NotAccepted, WhyNot, may_set_aside
from grader.rules.line import CellState, GradeLine
from grader.rules.offer import offer
from grader.rules.sentences import cost_of, exact, two_decimals
from grader.rules.values import Assignment, Book, HandIn, Person, Result
from grader.rules.visible import is_visible, own_line
from grader.service.classes import forms
from grader.service.classes.events import Agenda, NoteRead
from grader.service.classes.requests import Request, unknown
from grader.store import changes, coursework
from grader.store.coursework import wall_text

REFUSED = {
    WhyNot.NOT_OPEN: "has not opened yet",
    WhyNot.CLOSED: "closed; whatever you hand in now is practice",
    WhyNot.NO_ATTEMPTS: "no attempt left; whatever you hand in now is practice",
}


def agenda(asking: Request, event: Agenda) -> Mapping[str, Any]:
    """Return a student's assignments in the order of their due times, their line, and their late days."""
    known = asking.student(event.person)
    if not known.present:
        raise unknown("There is no such student in this class now.")
    book, one = asking.book(known.user), asking.school_class
    line = own_line(book, known.person, asking.at)
    assignments = [_assignment(book, known.person, each, line, at=asking.at) for each in book.in_order()]
    shown = {
        each.id
        for each in book.attempts.get(known.person, ())
        if is_visible(book, known.person, book.assignments[each.assignment], asking.at)
    }  # that a hidden result is another one now is no more told than the result
    return {
        "name": one.name,
        "zone": one.zone,
        "assignments": assignments,
        "line": forms.line(book, line),
        "notices": [
            {
                "id": each.id,
                "at": forms.moment(coursework.milliseconds(each.at)),
                "text": each.text,
                "change": each.change,
                "attempts": [id for id in each.attempts if id in shown],
            }
            for each in changes.unread(asking.session, known.user, one.id)
        ],
    }


def note_read(asking: Request, event: NoteRead) -> Mapping[str, Any]:
    """Mark notices as read; they are not shown again."""
    changes.note_read(asking.session, asking.member(event.person).user, event.ids, asking.now)
    return {}


def going(book: Book, person: Person, one: Assignment, exercise: str, *, at: int) -> Mapping[str, Any]:
    """Return what becomes of a hand-in now, in words, and how many attempts are left."""
    told = offer(book, person, one, exercise, at=at)
    if isinstance(told.taken, Accepted):
        text = cost_of(told)
    elif isinstance(told.taken, NotAccepted):
        text = REFUSED.get(told.taken.code, "is not taken")
    else:
        text = "was due before you joined; whatever you hand in is practice"
    return {
        "counts": isinstance(told.taken, Accepted),
        "days_late": told.days_late,
        "text": text,
        "attempts_left": told.attempts_left,
    }


def _assignment(book: Book, person: Person, one: Assignment, line: GradeLine, *, at: int) -> Mapping[str, Any]:
    due, cutoff = book.due(person, one), one.late.cutoff
    cell = line.cells[one.key]
    hidden = cell.state is CellState.HIDDEN
    may_change = may_set_aside(book, person, one, at)
    return {
        "key": one.key,
        "title": one.title,
        "opens": wall_text(one.opens),
        "due": wall_text(due.wall),
        "ends": forms.moment(book.boundary(person, one, 0)),
        "last": None if cutoff is None else wall_text(due.wall + timedelta(days=cutoff)),
        "is_over": cutoff is not None and at >= book.boundary(person, one, cutoff),
        "possible": two_decimals(one.possible),
        "cell": forms.cell(book, one.key, cell),
        "items": [
            {"exercise": name, "weight": exact(weight), **going(book, person, one, name, at=at)}
            for name, weight in one.items.items()
        ],
        "attempts": [
            _attempt(book, each, cell=None if hidden else line, at=at, may_change=may_change)
            for each in book.attempts_of(person, one.key)
        ],
    }


def _attempt(book: Book, one: HandIn, *, cell: GradeLine | None, at: int, may_change: bool) -> Mapping[str, Any]:
    """Return an attempt; of its result nothing where `cell`, its person's line, is None."""
    told = {
        "id": one.id, "exercise": one.exercise, "number": one.number, "at": forms.moment(one.at), "aside": one.aside,
        "may_change": may_change and one.result is not Result.CANCELLED,
    }  # fmt: skip
    if cell is None:
        return {**told, "score": None, "counts": None, "gain": "", "is_free": False}
    counts = any(each.attempt.id == one.id for each in cell.cells[one.assignment].items.values())
    gain = _gain(book, one, cell, at) if counts and may_change else ""
    return {
        **told,
        "score": forms.text_of(one.score),
        "counts": counts,
        "gain": gain,
        "is_free": one.result is Result.FREE,
    }


def _gain(book: Book, one: HandIn, line: GradeLine, at: int) -> str:
    """Return what an attempt brings and what it takes from the bank: `+1.00 point for 2 of your 4 late days`."""
    person = line.person
    others = tuple(replace(each, aside=True) if each.id == one.id else each for each in book.attempts[person])
    without = own_line(replace(book, attempts={**book.attempts, person: others}), person, at)
    before, after = (each.cells[one.assignment] for each in (without, line))
    more = (after.computed or Fraction(0)) - (before.computed or Fraction(0))
    days = (after.charged or 0) - (before.charged or 0)
    if days <= 0:
        return ""
    points = "point" if more == 1 else "points"
    return f"+{two_decimals(more)} {points} for {days} of your {line.available[one.assignment]} late days"
