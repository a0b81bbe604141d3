"""A class as files for other programs, and what staff have done to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from grader.exports.attempts import junit, results_json
from grader.exports.tables import Contact, Exported, Gradebook, canvas, csv_of, moodle
from grader.judge.report import Report
from grader.rules.line import compute
from grader.service.classes import forms, reading
from grader.service.classes.events import Audit, Export, Format, Grades
from grader.service.classes.requests import Request, bad_value, unknown
from grader.store import audit, classes, coursework, submissions
from grader.store.records import SubmissionId


def export(asking: Request, event: Export) -> Mapping[str, Any]:
    """Return the text of a file, and who is not in it since the platform could not know them."""
    if event.format.is_of_attempt != (event.attempt is not None):
        needs = "the id of an attempt" if event.format.is_of_attempt else "no attempt: it is about the class"
        raise bad_value(f"The format {event.format} takes {needs}.")
    if event.attempt is not None:
        report = _report(asking, event.attempt)
        text = (results_json if event.format is Format.GRADESCOPE else junit)(report, event.attempt)
        return {"text": text, "left_out": []}
    if event.format is Format.JSON:
        answer = reading.grades(asking, Grades.model_validate({"class": event.class_}))
        return {"text": f"{json.dumps(answer)}\n", "left_out": []}
    makers: Mapping[Format, Callable[[Gradebook], Exported]] = {
        Format.CSV: csv_of, Format.CANVAS: partial(canvas, missing_as_zero=event.missing_as_zero), Format.MOODLE: moodle
    }  # fmt: skip
    made = makers[event.format](_gradebook(asking))
    return {"text": made.text, "left_out": list(made.left_out)}


def audit_lines(asking: Request, event: Audit) -> Mapping[str, Any]:
    """Return what staff have done to the class, the oldest first."""
    lines = audit.lines(asking.session, asking.school_class.id)
    return {
        "lines": [
            {
                "at": forms.moment(coursework.milliseconds(one.at)), "by": one.by, "do": one.do, "ok": one.ok,
                "subject": one.about, "before": one.before, "after": one.after, "reason": one.reason,
            }
            for one in lines
        ]
    }  # fmt: skip


def _gradebook(asking: Request) -> Gradebook:
    book = asking.book()
    lines = {person: line for person, line in compute(book, asking.at).items() if book.members[person].present}
    known = classes.contacts(asking.session, asking.school_class.id)
    return Gradebook(book, lines, {person: Contact(*known[person]) for person in lines})


def _report(asking: Request, attempt: str) -> Report:
    """Return the report on an attempt at an exercise by somebody who is in the class now."""
    id = SubmissionId(attempt)
    place = coursework.place_of(asking.session, id)
    if place is None or place[1] not in (None, asking.school_class.id):
        raise unknown(f"There is no attempt {attempt[:40]!r} in this class.")
    if not asking.member(classes.person_of(asking.session, place[0])).present:
        raise unknown(f"There is no attempt {attempt[:40]!r} of anybody who is in this class now.")
    found = submissions.get(asking.session, id)
    if found is None or found.report is None:
        raise bad_value(f"The attempt {attempt[:40]!r} has no report: it waits, is being graded, or was cancelled.")
    return found.report
