"""One request to a class: who asks, in which transaction, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from grader.errors import NotAllowed
from grader.exercise.catalog import Catalog
from grader.jobs.table import Queue
from grader.rules.hand_in import WhyNot
from grader.rules.roster import fold
from grader.rules.sentences import exact
from grader.rules.times import NoSuchTime, check_exists, zone_of
from grader.rules.values import Assignment, Book, Key, Person
from grader.service.classes.events import ClassEvent, Right
from grader.store import audit, classes, coursework
from grader.store.audit import AuditLine
from grader.store.classes import Membership, SchoolClass
from grader.store.engine import Session
from grader.store.records import Role, UserId

Asked = TypeVar("Asked", bound=ClassEvent)
ADMINISTRATOR = "admin"  # who asks at the console of the installation
_SELF = "You may ask this for yourself only."


class ClassRefusal(NotAllowed):
    """What was asked for is not done; `code` says why to programs, the text to people, `more` what belongs to it."""

    def __init__(self, code: str, why: str, **more: Any) -> None:
        super().__init__(why)
        self.code, self.more = code, more


def unknown(what: str = "There is no such thing here.") -> ClassRefusal:
    """Return the refusal of what does not exist, or is not to be known."""
    return ClassRefusal(WhyNot.UNKNOWN.value, what)


@dataclass(frozen=True, slots=True)
class SourceGrading:
    """What grades the sources of a term that is replayed: a queue, the exercises, and the secret of their seeds."""

    queue: Queue
    catalog: Catalog
    secret: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """A request inside its transaction.

    Attributes:
        now: the time of the request, in seconds since the epoch.
        by: how the asking person is named; `admin` at the console.
        user: their id; None at the console.
        one: the class that it is about; None for what concerns the installation.
        own: what the asking person is in that class; None for nothing.
        is_admin: whether they administer the installation.
        grading: what grades sources; None where only results are given.
    """

    session: Session
    now: float
    by: Person
    user: UserId | None
    one: SchoolClass | None
    own: Membership | None
    is_admin: bool
    grading: SourceGrading | None = None

    @property
    def at(self) -> int:
        """The instant of the request, in milliseconds."""
        return coursework.milliseconds(self.now)

    @property
    def school_class(self) -> SchoolClass:
        """The class that the request is about."""
        if self.one is None:
            raise unknown("There is no such class.")
        return self.one

    @property
    def is_anywhere(self) -> bool:
        """Whether the asking person belongs to some class now."""
        return self.user is not None and bool(classes.classes_of(self.session, self.user))

    @property
    def is_staff(self) -> bool:
        """Whether the asking person teaches the class, or looks after a section of it, or administers all of it."""
        return self.is_admin or (self.own is not None and self.own.present and self.own.role is not Role.STUDENT)

    @property
    def teaches(self) -> bool:
        """Whether the asking person sees and changes all of the class."""
        return self.is_admin or (self.own is not None and self.own.present and self.own.role is Role.INSTRUCTOR)

    def book(self, user: UserId | None = None) -> Book:
        """Return the class as values, or one person's part of it."""
        return coursework.book(self.session, self.school_class, user)

    def assignment(self, key: Key) -> int:
        """Return the id of one of the class's assignments."""
        id = coursework.assignment_id(self.session, self.school_class.id, key)
        if id is None:
            raise unknown(f"There is no assignment {key[:40]!r} in this class.")
        return id

    def member(self, person: Person) -> Membership:
        """Return a member of the class, present or not; of somebody outside an assistant's sections nothing is told."""
        found = classes.find_person(self.session, person)
        known = None if found is None else classes.membership(self.session, self.school_class.id, found)
        if known is None or not self._may_see(known):
            raise unknown("There is no such member of this class.")
        return known

    def student(self, person: Person) -> Membership:
        """Return a student of the class, present or not."""
        known = self.member(person)
        if known.role is not Role.STUDENT:
            raise unknown("There is no such student in this class.")
        return known

    def exists(self, wall: datetime, zone: str = "") -> datetime:
        """Return a minute of the class's wall that its clock does not skip."""
        try:
            check_exists(wall, zone_of(zone or self.school_class.zone))
        except NoSuchTime as skipped:
            instead = coursework.wall_text(skipped.instead)
            raise ClassRefusal("no_such_time", str(skipped), instead=instead) from skipped
        return wall

    def note(self, do: str, subject: str = "", *, before: Any = None, after: Any = None, reason: str = "") -> None:
        """Add to the audit that this was done."""
        line = AuditLine(
            class_id=None if self.one is None else self.one.id, at=self.now, by=self.by, do=do, subject=subject,
            before=before, after=after, reason=reason,
        )  # fmt: skip
        audit.add(self.session, line)

    def _may_see(self, known: Membership) -> bool:
        if self.teaches or known.user == self.user:
            return True
        is_assistant = self.own is not None and self.own.present and self.own.role is Role.ASSISTANT
        return is_assistant and self.own is not None and known.section in self.own.sections


def check_reason(reason: str) -> None:
    """Refuse what changes somebody's grade without saying why."""
    if not fold(reason):  # or nothing in it can be seen
        raise ClassRefusal("no_reason", "A reason is expected: the student and other instructors read it.")


def bad_value(why: str) -> ClassRefusal:
    """Return the refusal of a value that is out of its bounds."""
    return ClassRefusal("bad_value", why)


def read(kind: type[Asked], fields: Mapping[str, Any]) -> Asked:
    """Return an event of its fields; ClassRefusal if one of them is not as it should be."""
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise bad_value(f"`{where}`: {first['msg'].removeprefix('Value error, ')}.") from None


def check_right(asking: Request, right: Right, given: Mapping[str, Any]) -> None:
    """Refuse whoever may not ask: an outsider as if there was nothing, a member in so many words.

    Raises:
        ClassRefusal: `unknown`, `not_allowed`, or `not_member` for somebody who has left.
    """
    if asking.is_admin and right not in (Right.OWNER,):
        return
    if right is Right.ADMINISTRATOR:
        raise ClassRefusal("not_allowed", "This is for the administrator of the installation only.")
    if right is Right.OWNER:
        _check_is_self(asking, given)
        return
    if asking.own is None:
        raise unknown("There is no such class.")
    if not asking.own.present:
        raise ClassRefusal(WhyNot.NOT_MEMBER.value, "You are no longer in this class.")
    if not _suffices(asking, right):
        raise ClassRefusal("not_allowed", "This is for those only who teach this class.")
    is_about = right is Right.STAFF or (right is Right.STUDENT and asking.is_staff)
    if is_about and isinstance(given.get("person"), str):
        asking.member(fold(given["person"]))  # an assistant of other sections is told nothing of them
    if right in (Right.STUDENT, Right.MEMBER) and "person" in given:
        is_self = fold(str(given["person"])) == asking.by
        if not is_self and (right is Right.MEMBER or not asking.is_staff):
            raise ClassRefusal("not_allowed", _SELF)


def _check_is_self(asking: Request, given: Mapping[str, Any]) -> None:
    if asking.is_admin or fold(str(given.get("person", ""))) == asking.by:
        return
    if asking.is_anywhere:
        raise ClassRefusal("not_allowed", _SELF)
    raise unknown()


def _suffices(asking: Request, right: Right) -> bool:
    if right is Right.INSTRUCTOR:
        return asking.teaches
    return right is not Right.STAFF or asking.is_staff


def fields_of(one: Assignment) -> dict[str, Any]:
    """Return an assignment as events write it."""
    late = one.late
    return {
        "title": one.title,
        "items": {name: exact(weight) for name, weight in one.items.items()},
        "opens": coursework.wall_text(one.opens),
        "due": coursework.wall_text(one.due),
        "section_due": {name: coursework.wall_text(due) for name, due in one.section_due.items()},
        "grace": one.grace,
        "late": {
            "per_day": exact(late.per_day), "at_most": exact(late.at_most), "of": late.of.value,
            "bank_max": late.bank_max, "cutoff": late.cutoff,
        },
        "count": one.count.value,
        "attempts": one.attempts,
        "show": one.show.value,
        "show_checks": {name: show.value for name, show in one.show_checks.items()},
    }  # fmt: skip
