"""Answers whatever is asked of a class, each request in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from grader.rules.preview import preview
from grader.rules.roster import fold
from grader.rules.values import Person
from grader.service.classes import agenda, assigning, desk, exporting, forms, granting, people, reading, regrades, work
from grader.service.classes.events import EVENTS, ClassEvent, HandInWork, WhatIf, wrong_fields
from grader.service.classes.requests import (
    ADMINISTRATOR,
    ClassRefusal,
    Request,
    SourceGrading,
    bad_value,
    check_right,
    read,
    unknown,
)
from grader.store import audit, classes, coursework
from grader.store.audit import AuditLine, subject_of
from grader.store.classes import SchoolClass
from grader.store.engine import Database, Session, server_time
from grader.store.records import Role, User

_NOTED = {"import": (), "override": ("stale",)}  # refusals that the audit tells; empty: all of them


class Classes:
    """The classes of an installation; see `grader.service.classes.events` for what can be asked."""

    def __init__(self, database: Database, *, clock: Callable[[], float], grading: SourceGrading | None = None) -> None:
        self._database, self._clock, self._grading = database, clock, grading

    def do(self, by: User | Person, do: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do what is asked and return the answer, as JSON can hold it.

        Args:
            by: who asks: somebody who is signed in, or a name in a file that is replayed; `admin` at the console.
            do: the name of an event.
            fields: those of the event, by their names in a file of events.

        Raises:
            ClassRefusal: it is not done; nothing is stored but, of some, a line in the audit.
        """
        kind = EVENTS[do]
        try:
            with self._transaction(kind) as session:
                asking = self._asking(session, by, fields, lock=_takes_the_classs_turn(kind))
                check_right(asking, kind.right, fields)
                if isinstance(by, User) and kind is HandInWork:
                    raise ClassRefusal("not_allowed", "Results are given in a file that is replayed, and nowhere else.")
                _check_texts({name: value for name, value in fields.items() if name != "source"})
                return _HANDLERS[do](asking, read(kind, fields))
        except RecursionError:
            raise bad_value("A value is nested too deeply.") from None
        except ClassRefusal as refusal:
            self._note(by, do, fields, refusal)
            raise

    def now(self) -> float:
        """Return the time by which everything here is decided, in seconds since the epoch."""
        with self._database.read() as session:
            return server_time(session, self._clock)

    def looked_after_by(self, user: User) -> list[Mapping[str, Any]]:
        """Return the classes that somebody teaches or assists; to an administrator all of them."""
        with self._database.read() as session:
            if classes.is_administrator(session, user.id):
                return [_shown(one, "administrator") for one in classes.every_class(session)]
            found = classes.classes_of(session, user.id)
            return [_shown(one, own.role.value) for one, own in found if own.role is not Role.STUDENT]

    def person_of(self, user: User) -> Person:
        """Return how somebody is named in events."""
        with self._database.read() as session:
            return classes.person_of(session, user.id)

    def studied_by(self, user: User) -> list[SchoolClass]:
        """Return the classes in which somebody studies now."""
        with self._database.read() as session:
            return [one for one, own in classes.classes_of(session, user.id) if own.role is Role.STUDENT]

    def goal_of(self, user: User, exercise: str) -> tuple[work.Destination, Mapping[str, Any]] | None:
        """Return the assignment to which a hand-in to an exercise goes now, and what that means in words."""
        with self._database.read() as session:
            now = server_time(session, self._clock)
            goal = next(iter(work.destinations(session, user.id, exercise, now)), None)
        if goal is None:
            return None
        at = coursework.milliseconds(now)
        return goal, agenda.going(goal.book, goal.person, goal.assignment, exercise, at=at)

    def _transaction(self, kind: type[ClassEvent]) -> AbstractContextManager[Session]:
        return self._database.read() if _only_reads(kind) else self._database.write()

    def _asking(self, session: Session, by: User | Person, fields: Mapping[str, Any], *, lock: bool = False) -> Request:
        now = server_time(session, self._clock)
        key = fields.get("class")
        one = classes.find_class(session, key, lock=lock) if isinstance(key, str) and _is_text(key) else None
        if by == ADMINISTRATOR:
            return Request(session, now, ADMINISTRATOR, None, one, None, True, self._grading)
        user = by.id if isinstance(by, User) else classes.find_person(session, fold(by))
        if user is None:
            raise unknown("There is no such class.")
        own = None if one is None else classes.membership(session, one.id, user)
        is_admin = classes.is_administrator(session, user)
        return Request(session, now, classes.person_of(session, user), user, one, own, is_admin, self._grading)

    def _note(self, by: User | Person, do: str, fields: Mapping[str, Any], refusal: ClassRefusal) -> None:
        """Add a refusal to the audit that others should know of: somebody of the class tried to change it."""
        codes = _NOTED.get(do)
        is_told = codes is not None and (not codes or refusal.code in codes)
        if not is_told or refusal.code in ("unknown", "not_allowed", "not_member") or fields.get("dry_run"):
            return
        with self._database.write() as session:
            asking = self._asking(session, by, fields)
            subject = subject_of(*(str(fields[name]) for name in ("person", "assignment") if name in fields))
            after = {"code": refusal.code, **{name: _counted(value) for name, value in refusal.more.items()}}
            line = AuditLine(
                class_id=asking.school_class.id, at=asking.now, by=asking.by, do=do, ok=False, subject=subject,
                after=after, reason=str(fields.get("reason", "")),
            )  # fmt: skip
            audit.add(session, line)


def _counted(value: Any) -> Any:
    """Return how many there are of what may be many: a file may have a million wrong rows."""
    return len(value) if isinstance(value, list) else value


def _only_reads(kind: type[ClassEvent]) -> bool:
    return kind.is_question and kind is not WhatIf


def _takes_the_classs_turn(kind: type[ClassEvent]) -> bool:
    """Return whether it may change the class; a hand-in takes its person's turn, and what only reads takes none."""
    return not _only_reads(kind) and kind is not HandInWork


def _is_text(value: str) -> bool:
    """Return whether a text can be stored: half of a pair of surrogates, as JSON may hold it, cannot."""
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def _check_texts(value: Any) -> None:
    if isinstance(value, str) and not _is_text(value):
        raise bad_value("A text holds half of a pair of surrogates, which is no character.")
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    for part in value if isinstance(value, list) else ():
        _check_texts(part)


def _shown(one: SchoolClass, role: str) -> Mapping[str, Any]:
    return {"key": one.key, "name": one.name, "zone": one.zone, "role": role}


def what_if(asking: Request, event: WhatIf) -> Mapping[str, Any]:
    """Do a change, compare the class with before, and undo it."""
    if wrong := wrong_fields(event.do, {"class": "", "change": event.change}):
        raise bad_value(f"{wrong}.")
    do = event.change["do"]
    change = {"class": event.class_, **{name: value for name, value in event.change.items() if name != "do"}}
    before = asking.book()
    undone = asking.session.begin_nested()
    try:
        _HANDLERS[do](asking, read(EVENTS[do], change))
        one = classes.find_class(asking.session, event.class_)
        assert one is not None
        after = replace(asking, one=one).book()
    finally:
        undone.rollback()
    return forms.changes(preview(before, after, asking.at))


_HANDLERS: Mapping[str, Callable[[Request, Any], Mapping[str, Any]]] = {
    "class": people.make_class,
    "copy": people.copy_class,
    "class_change": people.change_class,
    "staff": people.appoint,
    "import": people.import_roster,
    "member": people.change_member,
    "delete": people.delete,
    "assign": assigning.assign,
    "assign_change": assigning.change_assignment,
    "assign_all": assigning.assign_all,
    "except": assigning.grant,
    "except_all": granting.grant_all,
    "override": assigning.override,
    "publish": assigning.publish,
    "release": assigning.release,
    "hand_in": work.hand_in,
    "aside": work.set_aside,
    "version": regrades.set_version,
    "regrade": regrades.regrade,
    "notices_read": agenda.note_read,
    "change": regrades.look,
    "changes": regrades.list_changes,
    "results": regrades.both_results,
    "mistakes": reading.mistakes,
    "apply": regrades.apply,
    "cancel_change": regrades.cancel,
    "grades": reading.grades,
    "own": reading.own,
    "deadline": reading.deadline,
    "board": reading.board,
    "agenda": agenda.agenda,
    "export": exporting.export,
    "audit": exporting.audit_lines,
    "classes": reading.list_classes,
    "whatif": what_if,
    "roster": desk.read_roster,
    "desk": desk.desk,
    "cell": desk.one_cell,
    "comment": desk.comment,
    "look": desk.look,
}
