"""Answers whatever is asked of a class, each request in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from pydantic import ValidationError

from grader.rules.preview import preview
from grader.rules.roster import fold
from grader.rules.values import Person
from grader.service.classes import agenda, assigning, desk, forms, people, reading, regrades, work
from grader.service.classes.events import EVENTS, ClassEvent, WhatIf
from grader.service.classes.requests import ADMINISTRATOR, ClassRefusal, Request, check_right, unknown
from grader.store import audit, classes
from grader.store.audit import AuditLine
from grader.store.classes import SchoolClass
from grader.store.engine import Database, Session, server_time
from grader.store.records import Role, User

_NOTED = {"import": (), "override": ("stale",)}  # refusals that the audit tells; empty: all of them


class Classes:
    """The classes of an installation; see `grader.service.classes.events` for what can be asked."""

    def __init__(self, database: Database, *, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def do(self, by: User | Person, do: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do what is asked and return the answer, as JSON can hold it.

        Args:
            by: who asks; `admin` at the console.
            do: the name of an event.
            fields: those of the event, by their names in a file of events.

        Raises:
            ClassRefusal: it is not done; nothing is stored but, of some, a line in the audit.
        """
        kind = EVENTS[do]
        try:
            with self._transaction(kind) as session:
                asking = self._asking(session, by, fields)
                check_right(asking, kind.right, fields)
                return _HANDLERS[do](asking, _read(kind, fields))
        except ClassRefusal as refusal:
            self._note(by, do, fields, refusal)
            raise

    def looked_after_by(self, user: User) -> list[Mapping[str, Any]]:
        """Return the classes that somebody teaches or assists; to an administrator all of them."""
        with self._database.read() as session:
            if classes.is_administrator(session, user.id):
                return [_shown(one, "administrator") for one in classes.every_class(session)]
            found = classes.classes_of(session, user.id)
            return [_shown(one, own.role.value) for one, own in found if own.role is not Role.STUDENT]

    def _transaction(self, kind: type[ClassEvent]) -> AbstractContextManager[Session]:
        only_reads = kind.is_question and kind is not WhatIf
        return self._database.read() if only_reads else self._database.write()

    def _asking(self, session: Session, by: User | Person, fields: Mapping[str, Any]) -> Request:
        now = server_time(session, self._clock)
        key = fields.get("class")
        # A hand-in takes its person's turn; whatever else changes a class takes the class's.
        lock = "id" not in fields
        one = classes.find_class(session, key, lock=lock) if isinstance(key, str) else None
        if by == ADMINISTRATOR:
            return Request(session, now, ADMINISTRATOR, None, one, None, True)
        user = by.id if isinstance(by, User) else classes.find_person(session, fold(by))
        if user is None:
            raise unknown("There is no such class.")
        own = None if one is None else classes.membership(session, one.id, user)
        is_admin = classes.is_administrator(session, user)
        return Request(session, now, classes.person_of(session, user), user, one, own, is_admin)

    def _note(self, by: User | Person, do: str, fields: Mapping[str, Any], refusal: ClassRefusal) -> None:
        """Add a refusal to the audit that others should know of: somebody of the class tried to change it."""
        codes = _NOTED.get(do)
        is_told = codes is not None and (not codes or refusal.code in codes)
        if not is_told or refusal.code in ("unknown", "not_allowed", "not_member") or fields.get("dry_run"):
            return
        with self._database.write() as session:
            asking = self._asking(session, by, fields)
            subject = " ".join(str(fields[name]) for name in ("person", "assignment") if name in fields)
            line = AuditLine(
                class_id=asking.school_class.id, at=asking.now, by=asking.by, do=do, ok=False, subject=subject,
                after={"code": refusal.code, **refusal.more}, reason=str(fields.get("reason", "")),
            )  # fmt: skip
            audit.add(session, line)


def _shown(one: SchoolClass, role: str) -> Mapping[str, Any]:
    return {"key": one.key, "name": one.name, "zone": one.zone, "role": role}


def what_if(asking: Request, event: WhatIf) -> Mapping[str, Any]:
    """Do a change, compare the class with before, and undo it."""
    change = {"class": event.class_, **{name: value for name, value in event.change.items() if name != "do"}}
    do = event.change["do"]
    before = asking.book()
    undone = asking.session.begin_nested()
    try:
        _HANDLERS[do](asking, _read(EVENTS[do], change))
        one = classes.find_class(asking.session, event.class_)
        assert one is not None
        after = Request(asking.session, asking.now, asking.by, asking.user, one, asking.own, asking.is_admin).book()
    finally:
        undone.rollback()
    return forms.changes(preview(before, after, asking.at))


def _read(kind: type[ClassEvent], fields: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ClassRefusal("bad_value", f"`{where}`: {first['msg'].removeprefix('Value error, ')}.") from None


_HANDLERS: Mapping[str, Callable[[Request, Any], Mapping[str, Any]]] = {
    "class": people.make_class,
    "class_change": people.change_class,
    "staff": people.appoint,
    "import": people.import_roster,
    "member": people.change_member,
    "delete": people.delete,
    "assign": assigning.assign,
    "assign_change": assigning.change_assignment,
    "except": assigning.grant,
    "override": assigning.override,
    "publish": assigning.publish,
    "release": assigning.release,
    "hand_in": work.hand_in,
    "aside": work.set_aside,
    "version": regrades.set_version,
    "regrade": regrades.regrade,
    "apply": regrades.apply,
    "cancel_change": regrades.cancel,
    "grades": reading.grades,
    "own": reading.own,
    "deadline": reading.deadline,
    "board": reading.board,
    "agenda": agenda.agenda,
    "whatif": what_if,
    "roster": desk.read_roster,
    "desk": desk.desk,
    "cell": desk.one_cell,
    "audit": desk.read_audit,
    "comment": desk.comment,
    "look": desk.look,
}
