"""What is asked of a class: grades, one's own line, deadlines, boards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

from grader.rules.board import board as board_of
from grader.rules.line import compute
from grader.rules.misconceptions import misconceptions
from grader.rules.times import instant, zone_of
from grader.rules.visible import own_line
from grader.service.classes import forms
from grader.service.classes.events import Board, Deadline, Grades, ListClasses, Mistakes, Own
from grader.service.classes.requests import Request, unknown
from grader.store import causes, classes
from grader.store.records import Role


def grades(asking: Request, event: Grades) -> Mapping[str, Any]:
    """Return the gradebook; to an assistant the people of their sections, without figures."""
    book = asking.book()
    if not asking.teaches:
        assert asking.own is not None
        seen = {person: one for person, one in book.members.items() if one.section in asking.own.sections}
        book = replace(book, members=seen)
    lines = {person: line for person, line in compute(book, asking.at).items() if book.members[person].present}
    answer: dict[str, Any] = {"people": [forms.line(book, line) for line in lines.values()]}
    if asking.teaches:
        answer["statistics"] = forms.statistics(book, lines, asking.school_class.sections)
    return answer


def own(asking: Request, event: Own) -> Mapping[str, Any]:
    """Return a student's line as they may see it now."""
    known = asking.student(event.person)
    if not known.present:
        raise unknown("There is no such student in this class now.")
    book = asking.book(known.user)
    return {"own": forms.line(book, own_line(book, known.person, asking.at))}


def deadline(asking: Request, event: Deadline) -> Mapping[str, Any]:
    """Return until when a student may hand in, and how late that would be now."""
    known = asking.student(event.person)
    if not known.present:
        raise unknown("There is no such student in this class now.")
    asking.assignment(event.assignment)
    book = asking.book(known.user)
    one = book.assignments[event.assignment]
    cutoff = one.late.cutoff
    return {
        "ends": forms.moment(book.boundary(known.person, one, 0)),
        "closes": None if cutoff is None else forms.moment(book.boundary(known.person, one, cutoff)),
        "days_late": book.due(known.person, one).days_late(asking.at, one.grace),
    }


def board(asking: Request, event: Board) -> Mapping[str, Any]:
    """Return the board of an item."""
    asking.assignment(event.assignment)
    book = asking.book()
    one = book.assignments[event.assignment]
    if event.exercise not in one.items:
        raise unknown(f"The assignment has no exercise {event.exercise[:40]!r}.")
    return {"rows": forms.board(board_of(book, one, event.exercise, asking.at))}


def mistakes(asking: Request, event: Mistakes) -> Mapping[str, Any]:
    """Return what is misunderstood; to an assistant by the people of their sections."""
    one, book = asking.school_class, asking.book()
    if event.section is not None and event.section not in one.sections:
        raise unknown(f"There is no section {event.section[:40]!r} in this class.")
    sections = None if asking.own is None or asking.teaches else asking.own.sections
    seen = {
        person
        for person, member in book.members.items()
        if event.section in (None, member.section) and (sections is None or member.section in sections)
    }
    assignment = None if event.assignment is None else asking.assignment(event.assignment)
    within = None
    if event.week is not None:
        days = [datetime.combine(event.week + timedelta(days=n), time()) for n in (0, 7)]
        first, last = (instant(day, zone_of(one.zone)) for day in days)
        within = first, last
    attempts = [
        each
        for each in causes.checked_attempts(asking.session, one.id, assignment)
        if each.person in seen and event.exercise in (None, each.exercise)
    ]
    return {"mistakes": forms.misconceptions(misconceptions(attempts, within))}


def list_classes(asking: Request, event: ListClasses) -> Mapping[str, Any]:
    """Return all classes, the oldest first, with how many students are in each now."""
    found = []
    for one in classes.every_class(asking.session):
        members = classes.memberships(asking.session, one.id)
        students = sum(known.present and known.role is Role.STUDENT for known in members)
        found.append({
            "class": one.key, "name": one.name, "zone": one.zone, "bank": one.bank, "sections": list(one.sections),
            "students": students,
        })  # fmt: skip
    return {"classes": found}
