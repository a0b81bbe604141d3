"""What staff work with: a class with its assignments, a cell with all that belongs to it, a file, the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.rules.line import compute
from grader.rules.roster import Move
from grader.rules.sentences import two_decimals
from grader.rules.times import DueTime, zone_of
from grader.rules.values import Assignment, HandIn
from grader.service.classes import agenda, forms
from grader.service.classes.events import Agenda, Comment, Desk, Look, OneCell, ReadRoster
from grader.service.classes.people import roster_change
from grader.service.classes.requests import Request, fields_of
from grader.store import audit, classes, coursework, remarks
from grader.store.audit import AuditLine, subject_of
from grader.store.coursework import milliseconds, wall_text
from grader.store.records import Role
from grader.store.remarks import Remark


def desk(asking: Request, event: Desk) -> Mapping[str, Any]:
    """Return a class as its staff see it; to an assistant only their sections are named."""
    one, own = asking.school_class, asking.own
    sections = one.sections if asking.teaches or own is None else own.sections
    students = [each for each in classes.memberships(asking.session, one.id) if each.role is Role.STUDENT]
    found = coursework.assignments(asking.session, one.id).items()
    zone = zone_of(one.zone)
    own_dues = remarks.extensions(asking.session, one.id) if asking.teaches else []
    in_order = sorted(found, key=lambda pair: (DueTime(pair[1].due, zone).at, pair[0]))
    return {
        "key": one.key,
        "name": one.name,
        "zone": one.zone,
        "bank": one.bank,
        "sections": list(sections),
        "teaches": asking.teaches,
        "now": asking.at,
        "students": sum(each.present and (asking.teaches or each.section in sections) for each in students),
        "assignments": [
            {**_assignment(asking, id, each), "own_due": {who: due for of, who, due in own_dues if of == id}}
            for id, each in in_order
        ],
    }


def one_cell(asking: Request, event: OneCell) -> Mapping[str, Any]:
    """Return a cell with its attempts, its exceptions and overrides with their reasons, and its history."""
    known, id = asking.student(event.person), asking.assignment(event.assignment)
    book, session = asking.book(known.user), asking.session
    one, line = book.assignments[event.assignment], compute(book, asking.at)[known.person]
    _, reason, by = coursework.last_override(session, known.user, id)
    counting = {each.attempt.id for each in line.cells[one.key].items.values()}
    granted = remarks.granted(session, asking.school_class.id, known.user)
    subject = subject_of(known.person, one.key)
    return {
        "line": forms.line(book, line),
        "present": known.present,
        "title": one.title,
        "possible": two_decimals(one.possible),
        "due": wall_text(book.due(known.person, one).wall),
        "attempts": [
            _attempt(book.due(known.person, one), one, each, counting=counting)
            for each in book.attempts_of(known.person, one.key)
        ],
        "revision": coursework.override_revision(session, known.user, id),
        "override": {"reason": reason, "by": "" if by is None else classes.person_of(session, by)},
        "exceptions": [_remark(each) for each in granted if each.assignment in (None, id)],
        "comments": [_remark(each) for each in remarks.comments(session, id, known.user)],
        "history": [
            _audited(each)
            for each in audit.lines(session, asking.school_class.id, subject)
            if f"{each.subject}\t".startswith(f"{subject}\t")
        ],
    }


def read_roster(asking: Request, event: ReadRoster) -> Mapping[str, Any]:
    """Return what each line of a file would change, who would leave, and whether their number is to be typed."""
    change = roster_change(asking, event.file or event.csv)
    book = asking.book()
    return {
        "counts": {move.value: change.count(move) for move in Move} | {"left": len(change.left)},
        "rows": [
            {
                "line": row.line, "email": row.email, "name": row.name, "section": row.section, "move": move.value,
                "before": _before(book.members.get(person or "")),
            }
            for row, move, person in change.rows
        ],
        "left": [{"email": one, "name": book.members[one].name} for one in change.left],
        "confirm": change.must_be_confirmed,
    }  # fmt: skip


def comment(asking: Request, event: Comment) -> Mapping[str, Any]:
    """Write something to a cell."""
    known, id = asking.student(event.person), asking.assignment(event.assignment)
    remark = Remark(event.text, asking.by, asking.now, event.shown)
    remarks.add_comment(asking.session, id, known.user, remark, by=asking.user)
    subject = subject_of(known.person, event.assignment)
    asking.note("comment", subject, after={"shown": event.shown}, reason=event.text)
    return {}


def look(asking: Request, event: Look) -> Mapping[str, Any]:
    """Return the class as a student sees it, and note who has looked."""
    known = asking.student(event.person)
    asking.note("look", known.person)
    name = asking.book(known.user).members[known.person].name
    seen = agenda.agenda(asking, Agenda.model_validate({"class": event.class_, "person": event.person}))
    return {**seen, "person": known.person, "called": name}


def _assignment(asking: Request, id: int, one: Assignment) -> Mapping[str, Any]:
    return {
        "key": one.key,
        **fields_of(one),
        "possible": two_decimals(one.possible),
        "revision": coursework.revision_of(asking.session, id),
        "published": None if one.published is None else forms.moment(one.published),
        "held": sorted(one.held) if asking.teaches else [],
    }


def _attempt(due: DueTime, assignment: Assignment, one: HandIn, *, counting: set[str]) -> Mapping[str, Any]:
    return {
        "id": one.id, "exercise": one.exercise, "number": one.number, "at": one.at / 1000, "result": one.result.value,
        "score": forms.text_of(one.score), "aside": one.aside, "counts": one.id in counting,
        "days_late": min(each.days_late(one.at, assignment.grace) for each in (due, one.promise)),
    }  # fmt: skip


def _remark(one: Remark) -> Mapping[str, Any]:
    return {
        "text": one.text, "by": one.by, "at": one.at, "shown": one.shown, "field": one.field, "value": one.value
    }  # fmt: skip


def _before(member: Any) -> Mapping[str, str] | None:
    return None if member is None else {"name": member.name, "section": member.section}


def _audited(one: AuditLine) -> Mapping[str, Any]:
    return {
        "at": milliseconds(one.at) / 1000, "by": one.by, "do": one.do, "subject": one.about, "ok": one.ok,
        "before": one.before, "after": one.after, "reason": one.reason,
    }  # fmt: skip
