"""Assignments, their publication, and what is granted to single people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeVar

from grader.rules.preview import preview
from grader.rules.sentences import two_decimals
from grader.rules.times import DueTime, zone_of
from grader.rules.values import Assignment, Field, Late, Person
from grader.service.classes import forms
from grader.service.classes.events import (
    Assign,
    AssignAll,
    AssignmentFields,
    ChangeAssignment,
    Grant,
    LateFields,
    Override,
    Publish,
    Release,
)
from grader.service.classes.fields import MOST_ATTEMPTS, MOST_DAYS, wall_of
from grader.service.classes.requests import ClassRefusal, Request, bad_value, check_reason, fields_of, read
from grader.store import audit, classes, coursework
from grader.store.audit import subject_of
from grader.store.classes import Membership
from grader.store.records import UserId

Done = TypeVar("Done")
_OF_CLASS = (Field.STANDING_DAYS, Field.BANK_DAYS)


def assign(asking: Request, event: Assign) -> Mapping[str, Any]:
    """Make an assignment."""
    one = asking.school_class
    if coursework.assignment_id(asking.session, one.id, event.assignment) is not None:
        raise ClassRefusal("exists", f"There is an assignment {event.assignment!r} already.")
    new = Assignment(key=event.assignment, items=event.items, opens=event.opens, due=event.due, made=0)
    new = _changed(new, event)
    _check(asking, new, AssignmentFields.model_fields)
    revision = coursework.save_assignment(asking.session, one.id, new)
    asking.note("assign", event.assignment, after=fields_of(new))
    return {"revision": revision}


def change_assignment(asking: Request, event: ChangeAssignment) -> Mapping[str, Any]:
    """Change an assignment, if it is still as it was seen."""
    id = asking.assignment(event.assignment)
    revision = coursework.revision_of(asking.session, id)
    if event.revision is not None and event.revision != revision:
        raise ClassRefusal("stale", _who_changed(asking, event.assignment), revision=revision)
    before = coursework.assignments(asking.session, asking.school_class.id)[id]
    after = _changed(before, event.set)
    _check(asking, after, event.set.model_fields_set)
    revision = coursework.save_assignment(asking.session, asking.school_class.id, after, id)
    if (before.show, before.show_checks) != (after.show, after.show_checks):
        coursework.refresh_standings(asking.session, id)
    old, new = fields_of(before), fields_of(after)
    different = [name for name in new if old[name] != new[name]]
    asking.note(
        "assign_change",
        event.assignment,
        before={name: old[name] for name in different},
        after={name: new[name] for name in different},
    )
    return {"revision": revision}


def assign_all(asking: Request, event: AssignAll) -> Mapping[str, Any]:
    """Make or change several assignments, and return what that changes; with `dry_run` nothing is stored."""
    done, found = previewed(
        asking, lambda: [_one_of_all(asking, one) for one in event.assignments], keep=not event.dry_run
    )
    return {"assignments": done, **found}


def previewed(asking: Request, change: Callable[[], Done], *, keep: bool) -> tuple[Done, Mapping[str, Any]]:
    """Return what a change returns, and what it changes in the class; it is undone unless it is to be kept."""
    before = asking.book()
    trial = asking.session.begin_nested()
    try:
        done = change()
        found = forms.changes(preview(before, asking.book(), asking.at))
    except BaseException:
        trial.rollback()
        raise
    if keep:
        trial.commit()
    else:
        trial.rollback()
    return done, found


def _one_of_all(asking: Request, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Make or change one of several; a refusal says which it is."""
    try:
        return _make_or_change(asking, given)
    except ClassRefusal as refusal:
        which = str(given.get("assignment", "an assignment without a key"))[:40]
        raise ClassRefusal(refusal.code, f"{which}: {refusal}", **refusal.more) from refusal


def _make_or_change(asking: Request, given: Mapping[str, Any]) -> Mapping[str, Any]:
    key, class_key = given.get("assignment"), asking.school_class.key
    if not isinstance(key, str):
        raise bad_value("Each assignment has its key in `assignment`.")
    if is_new := coursework.assignment_id(asking.session, asking.school_class.id, key) is None:
        made = assign(asking, read(Assign, {**given, "class": class_key}))
    else:
        own = ("assignment", "revision")
        fields = {name: value for name, value in given.items() if name in own}
        values = {name: value for name, value in given.items() if name not in own}
        made = change_assignment(asking, read(ChangeAssignment, {"class": class_key, "set": values, **fields}))
    return {"assignment": key, "new": is_new, **made}


def grant(asking: Request, event: Grant) -> Mapping[str, Any]:
    """Grant somebody something, or withdraw it."""
    known = asking.student(event.person)
    id = None if event.assignment is None else asking.assignment(event.assignment)
    if (event.assignment is None) != (event.field in _OF_CLASS):
        raise bad_value(
            f"`{event.field}` is granted {'in the class' if event.field in _OF_CLASS else 'for an assignment'}."
        )
    value = _granted(asking, event)
    check_reason(event.reason)
    if event.field is Field.EXCUSED and value and id is not None:
        _withdraw_override(asking, known, id, event.reason)
    _store_exception(asking, known, event.field, value, assignment=id, reason=event.reason)
    subject = subject_of(event.person, event.assignment, event.field.value)
    asking.note("except", subject, after=event.value, reason=event.reason)
    return {}


def override(asking: Request, event: Override) -> Mapping[str, Any]:
    """Replace a cell's points, or withdraw that."""
    known, id = asking.student(event.person), asking.assignment(event.assignment)
    possible = coursework.assignments(asking.session, asking.school_class.id)[id].possible
    if event.points is not None and not 0 <= event.points <= possible:
        raise bad_value(f"The points are from 0 to {two_decimals(possible)}.")
    check_reason(event.reason)
    revision = coursework.override_revision(asking.session, known.user, id)
    points, reason, by = coursework.last_override(asking.session, known.user, id)
    if event.revision is not None and event.revision != revision:
        raise ClassRefusal("stale", _who_saved(asking, points, reason, by), revision=revision)
    if event.points is not None:
        book = asking.book(known.user)
        if book.is_excused(known.person, event.assignment):
            _store_exception(asking, known, Field.EXCUSED, None, assignment=id, reason=event.reason)
    revision = coursework.override(
        asking.session, known.user, id, event.points, reason=event.reason, by=asking.user, now=asking.now
    )
    subject, after = subject_of(event.person, event.assignment), _text(event.points)
    asking.note("override", subject, before=_text(points), after=after, reason=event.reason)
    return {"revision": revision}


def publish(asking: Request, event: Publish) -> Mapping[str, Any]:
    """Publish an assignment's results, but to those held back."""
    id = asking.assignment(event.assignment)
    held = [asking.student(person) for person in dict.fromkeys(event.hold)]
    coursework.publish(asking.session, id, [one.user for one in held], asking.now)
    asking.note("publish", event.assignment, after={"hold": [one.person for one in held]})
    return {}


def release(asking: Request, event: Release) -> Mapping[str, Any]:
    """Let a publication reach somebody who was held back."""
    id, known = asking.assignment(event.assignment), asking.student(event.person)
    coursework.release(asking.session, id, known.user)
    asking.note("release", subject_of(event.person, event.assignment))
    return {}


def _changed(before: Assignment, new: AssignmentFields) -> Assignment:
    given = {name: getattr(new, name) for name in AssignmentFields.model_fields if name in new.model_fields_set}
    late = given.pop("late", None)
    nullable = {name: value for name, value in given.items() if value is not None or name == "attempts"}
    if "show_checks" in nullable:
        nullable["show_checks"] = {part.value: show for part, show in nullable["show_checks"].items()}
    if late is not None:
        nullable["late"] = _later(before.late, late)
    return replace(before, **nullable)


def _later(before: Late, new: LateFields) -> Late:
    given = {name: getattr(new, name) for name in new.model_fields_set}
    return replace(before, **{name: value for name, value in given.items() if value is not None or name == "cutoff"})


def _check(asking: Request, one: Assignment, given: Collection[str]) -> None:
    """Refuse given times that the class's clock skips, that are in the wrong order, or of a section that there is not.

    One that stays as it was moves forward by itself where the class's zone was changed, and now skips it.
    """
    zone = zone_of(asking.school_class.zone)
    times: dict[str, Mapping[str, datetime]] = {
        "opens": {"": one.opens}, "due": {"": one.due}, "section_due": one.section_due
    }  # fmt: skip
    changed = [name for name in times if name in given]
    for section, wall in [each for name in changed for each in times[name].items()]:
        if section and section not in asking.school_class.sections:
            raise bad_value(f"The class has no section {section!r}.")
        asking.exists(wall)
    opens = DueTime(one.opens, zone).at
    for due in (one.due, *one.section_due.values()) if changed else ():
        if DueTime(due, zone).at < opens:
            raise bad_value(f"It opens at {one.opens:%Y-%m-%d %H:%M}, which is after it is due, {due:%Y-%m-%d %H:%M}.")


def _granted(asking: Request, event: Grant) -> datetime | int | None:
    value, is_whole = event.value, isinstance(event.value, int) and not isinstance(event.value, bool)
    if value is None:
        return None
    match event.field:
        case Field.DUE:
            try:
                return asking.exists(wall_of(value))
            except ValueError:
                raise bad_value("A due time is a minute of the class's zone, such as 2026-10-09T23:59.") from None
        case Field.EXCUSED if isinstance(value, bool):
            return 1 if value else None
        case Field.ATTEMPTS if is_whole and 0 <= value <= MOST_ATTEMPTS:
            return int(value)
        case Field.STANDING_DAYS | Field.BANK_DAYS if is_whole and 0 <= value <= MOST_DAYS:
            return int(value)
    raise bad_value(f"{value!r} is nothing that `{event.field}` can be.")


def _store_exception(
    asking: Request,
    known: Membership,
    what: Field,
    value: datetime | int | None,
    *,
    assignment: int | None,
    reason: str,
) -> None:
    one, by, now = asking.school_class, asking.user, asking.now
    coursework.grant(
        asking.session, one.id, known.user, assignment=assignment, what=what, value=value, reason=reason, by=by, now=now
    )


def _withdraw_override(asking: Request, known: Membership, id: int, reason: str) -> None:
    """Let go of the points of somebody who is excused: a cell has one or the other."""
    points, _, _ = coursework.last_override(asking.session, known.user, id)
    if points is not None:
        coursework.override(asking.session, known.user, id, None, reason=reason, by=asking.user, now=asking.now)


def _who_saved(asking: Request, points: Fraction | None, reason: str, by: UserId | None) -> str:
    who: Person = "somebody" if by is None else classes.person_of(asking.session, by)
    what = "withdrew the override" if points is None else f"saved {two_decimals(points)} (“{reason}”)"
    return f"Meanwhile {who} {what}. Look at the cell again, and then save."


def _who_changed(asking: Request, key: str) -> str:
    lines = [one for one in audit.lines(asking.session, asking.school_class.id, key) if one.subject == key]
    changes = [one for one in lines if one.do == "assign_change" and one.ok]
    who, what = (changes[-1].by, ", ".join(changes[-1].after)) if changes else ("somebody", "")
    return f"Meanwhile {who} changed this assignment ({what or 'nothing'}). Look at it again, and then save."


def _text(points: Fraction | None) -> str | None:
    return None if points is None else two_decimals(points)
