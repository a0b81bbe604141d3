"""Classes themselves, and who belongs to them: made, imported, appointed, moved, gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.rules.roster import BadFile, Move, RosterChange, is_email, read_roster
from grader.rules.roster import compare as compare_roster
from grader.rules.times import NoSuchZone, zone_of
from grader.rules.values import Assignment, moved_by_weeks
from grader.service.classes.events import Appoint, ChangeClass, ChangeMember, CopyClass, Delete, Import, MakeClass
from grader.service.classes.requests import ClassRefusal, Request, bad_value, unknown
from grader.service.classes.spreadsheet import csv_text
from grader.store import classes, coursework, people, turns
from grader.store.classes import SchoolClass
from grader.store.records import Role

LAST = "This is the only instructor of the class. Make somebody else an instructor first."


def make_class(asking: Request, event: MakeClass) -> Mapping[str, Any]:
    """Begin a class."""
    _check_zone(event.zone)
    turns.of_class(asking.session)  # else two classes could get one key at once
    if classes.find_class(asking.session, event.class_) is not None:
        raise ClassRefusal("exists", f"There is a class {event.class_!r} already.")
    made = SchoolClass(0, event.class_, event.name, event.zone, event.bank, tuple(event.sections))
    made = classes.add_class(asking.session, made, asking.now)
    replace(asking, one=made).note("class", event.class_, after=_settings(made))
    return {}


def copy_class(asking: Request, event: CopyClass) -> Mapping[str, Any]:
    """Begin a class with another one's settings and assignments; an instructor who asks teaches it, too.

    Nobody else is in it, and nothing is published.
    """
    session, old = asking.session, asking.school_class
    turns.of_class(session)  # else two classes could get one key at once
    if classes.find_class(session, event.to) is not None:
        raise ClassRefusal("exists", f"There is a class {event.to!r} already.")
    moved = []
    for one in coursework.assignments(session, old.id).values():
        try:
            moved.append(moved_by_weeks(one, event.weeks, zone_of(old.zone)))
        except OverflowError:
            raise bad_value(f"{one.key}: {event.weeks} weeks lead out of the calendar.") from None
    if not event.dry_run:
        _store_copy(asking, event, moved)
    dates = [(one.key, coursework.wall_text(one.opens), coursework.wall_text(one.due)) for one in moved]
    return {"assignments": [{"assignment": key, "opens": opens, "due": due} for key, opens, due in dates]}


def _store_copy(asking: Request, event: CopyClass, assignments: Sequence[Assignment]) -> None:
    session, old, own = asking.session, asking.school_class, asking.own
    copied = replace(old, id=0, key=event.to, name=old.name if event.name is None else event.name)
    new = classes.add_class(session, copied, asking.now)
    for one in assignments:
        coursework.save_assignment(session, new.id, one)
    if own is not None and own.present and own.role is Role.INSTRUCTOR:
        classes.appoint(session, new.id, own.user, Role.INSTRUCTOR, now=asking.now)
    after = {"from": old.key, "weeks": event.weeks, "assignments": [one.key for one in assignments]}
    replace(asking, one=new).note("copy", event.to, after=after)


def change_class(asking: Request, event: ChangeClass) -> Mapping[str, Any]:
    """Change a class's zone, bank, name or sections."""
    before, new = asking.school_class, event.set
    if new.zone is not None:
        _check_zone(new.zone)
    after = replace(
        before,
        zone=before.zone if new.zone is None else new.zone,
        bank=before.bank if new.bank is None else new.bank,
        name=before.name if new.name is None else new.name,
        sections=before.sections if new.sections is None else tuple(new.sections),
    )
    gone = {*before.sections} - {*after.sections}
    used = {one.section for one in classes.memberships(asking.session, before.id)} & gone
    if used:
        raise bad_value(f"The section {min(used)!r} has students; move them first.")
    classes.change_class(asking.session, after)
    asking.note("class_change", before.key, before=_settings(before), after=_settings(after))
    return {}


def appoint(asking: Request, event: Appoint) -> Mapping[str, Any]:
    """Make somebody an instructor or an assistant."""
    one, session = asking.school_class, asking.session
    turns.of_class(session)  # else two classes could bring one new person at once
    foreign = [name for name in event.sections if name not in one.sections]
    if foreign:
        raise bad_value(f"The class has no section {foreign[0]!r}.")
    user = classes.find_person(session, event.person)
    if user is None:
        if not is_email(event.person):
            raise bad_value(f"{event.person[:80]!r} is no e-mail address.")
        user = classes.add_person(session, event.person, event.name or event.person, asking.now)
    before = classes.membership(session, one.id, user)
    if before is None and not asking.is_admin and not is_email(event.person):
        raise unknown("There is no such member of this class; somebody new is named by an e-mail address.")
    classes.appoint(session, one.id, user, Role(event.role), sections=event.sections, now=asking.now, name=event.name)
    _check_taught(asking)
    role = None if before is None else before.role.value
    asking.note("staff", event.person, before=role, after={"role": event.role.value, "sections": event.sections})
    return {}


def import_roster(asking: Request, event: Import) -> Mapping[str, Any]:
    """Bring a class to what a registrar's file says, all of it or nothing."""
    if not event.dry_run:
        turns.of_class(asking.session)  # else two classes could bring one new person at once
    change = roster_change(asking, event.file or event.csv)
    counts = {move.value: change.count(move) for move in Move}
    answer = {
        "new": counts["new"], "back": counts["back"], "moved": counts["moved"], "renamed": counts["renamed"],
        "left": len(change.left), "unchanged": counts["unchanged"],
    }  # fmt: skip
    if event.dry_run:
        return answer
    if change.must_be_confirmed and event.confirm != len(change.left):
        raise ClassRefusal(
            "confirm_leaving",
            f"{len(change.left)} of {change.present} students are not in this file, and would leave the class. If that "
            "is right, confirm their number.",
            left=len(change.left),
        )
    _apply_roster(asking, change)
    asking.note("import", asking.school_class.key, after=answer)
    return answer


def roster_change(asking: Request, csv: str | bytes) -> RosterChange:
    """Return what a file would change, row by row.

    Raises:
        ClassRefusal: the file cannot be read, or a row of it is wrong.
    """
    one = asking.school_class
    try:
        file = read_roster(csv_text(csv) if isinstance(csv, bytes) else csv, one.sections)
    except BadFile as broken:
        raise ClassRefusal("bad_value", f"This file is no roster: {broken}.") from broken
    if file.faults:
        errors = [{"line": line, "code": fault.value} for line, fault in file.faults]
        first, said = errors[0], len(errors)
        why = (
            f"{said} {'row is' if said == 1 else 'rows are'} wrong, the first in line {first['line']}: {first['code']}."
        )
        raise ClassRefusal("bad_rows", why, errors=errors)
    emails = [row.email for row in file.rows]
    return compare_roster(file, classes.known_people(asking.session, one.id, emails))


def change_member(asking: Request, event: ChangeMember) -> Mapping[str, Any]:
    """Move a member into another section, or let them leave or come back."""
    known, one = asking.member(event.person), asking.school_class
    if event.section is not None:
        if event.section not in one.sections:
            raise bad_value(f"The class has no section {event.section!r}.")
        classes.set_section(asking.session, one.id, known.user, event.section)
    if event.act is not None:
        ended = asking.now if event.act == "leave" else None
        classes.set_presence(asking.session, one.id, known.user, ended=ended)
        _check_taught(asking)
    before = {"section": known.section, "present": known.present}
    asking.note("member", event.person, before=before, after={"section": event.section, "act": event.act})
    return {}


def delete(asking: Request, event: Delete) -> Mapping[str, Any]:
    """Delete a person with everything that they have done."""
    user = classes.find_person(asking.session, event.person)
    if user is None:
        raise unknown("There is nobody of this name.")
    every = classes.every_class(asking.session)
    for one, own in classes.classes_of(asking.session, user):
        others = [each for each in classes.memberships(asking.session, one.id) if each.present and each.user != user]
        if own.role is Role.INSTRUCTOR and others and all(each.role is not Role.INSTRUCTOR for each in others):
            raise ClassRefusal("not_allowed", LAST)
    known = {one: classes.membership(asking.session, one.id, user) for one in every}
    theirs = [one for one, own in known.items() if own is not None]
    for each in theirs or (None,):
        replace(asking, one=each).note("delete", event.person)
    people.delete_person(asking.session, user)
    return {}


def _apply_roster(asking: Request, change: RosterChange) -> None:
    session, one = asking.session, asking.school_class
    staff = {known.person for known in classes.memberships(session, one.id) if known.role is not Role.STUDENT}
    for row, move, person in change.rows:
        if move is Move.UNCHANGED and person in staff:
            continue
        user = None if person is None else classes.find_person(session, person)
        if user is None:
            user = classes.add_person(session, row.email, row.name, asking.now)
        classes.enrol(session, one.id, user, row, now=asking.now)
    for person in change.left:
        user = classes.find_person(session, person)
        if user is not None:
            classes.set_presence(session, one.id, user, ended=asking.now)
    session.flush()


def _check_zone(name: str) -> None:
    try:
        zone_of(name)
    except NoSuchZone as wrong:
        raise ClassRefusal("bad_value", f"{wrong}.") from wrong


def _check_taught(asking: Request) -> None:
    """Refuse to take the last instructor from a class that had one."""
    is_last = asking.own is not None and not classes.has_instructor(asking.session, asking.school_class.id)
    if is_last:
        raise ClassRefusal("not_allowed", LAST)


def _settings(one: SchoolClass) -> Mapping[str, Any]:
    return {"name": one.name, "zone": one.zone, "bank": one.bank, "sections": list(one.sections)}
