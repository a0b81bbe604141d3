"""What can be asked of a class, each with its fields and with who may ask it.

The names and the bounds of the fields are those of a file of events, which `attention-gym class replay` plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

from grader.judge.report import Dimension
from grader.rules.values import Count, ShareOf, Show
from grader.rules.values import Field as Granting
from grader.service.classes.fields import (
    Attempts,
    Days,
    Exercise,
    Grace,
    Items,
    Key,
    Person,
    Points,
    Reason,
    Score,
    Section,
    Sections,
    Share,
    SubmissionKey,
    Text,
    Wall,
)
from grader.store.records import Role

ONE_OF = ("score", "scores", "status", "source", "source_file")  # a hand-in has one of these
MOST_GRANTS = 2000  # in one file
MOST_WEEKS = 520  # ten years


class Right(StrEnum):
    """Who may ask."""

    ADMINISTRATOR = "administrator"
    INSTRUCTOR = "instructor"
    STAFF = "staff"  # instructors, and assistants for their own sections
    MEMBER = "member"
    STUDENT = "student"  # for themselves; staff too, where nothing is changed
    OWNER = "owner"  # for themselves, of whatever class


class Format(StrEnum):
    """What a class, or an attempt at one of its exercises, is exported as."""

    CSV = "csv"
    CANVAS = "canvas"
    MOODLE = "moodle"
    JSON = "json"
    GRADESCOPE = "gradescope"
    JUNIT = "junit"

    @property
    def is_of_attempt(self) -> bool:
        """Whether it is about one attempt, and not about the class."""
        return self in (Format.GRADESCOPE, Format.JUNIT)


class ClassEvent(BaseModel):
    """The root of what can be asked. `do` names it, `right` says who may ask."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    do: ClassVar[str]
    right: ClassVar[Right]
    is_question: ClassVar[bool] = False


class OfClass(ClassEvent):
    """What concerns one class."""

    class_: str = Field(alias="class")


class MakeClass(OfClass):
    """Begin a class, with a key that is free."""

    do = "class"
    right = Right.ADMINISTRATOR
    class_: Key = Field(alias="class")
    name: Annotated[Text, Field(min_length=1, max_length=80)]
    zone: Text
    bank: Days
    sections: Sections


class CopyClass(OfClass):
    """Begin a class with another one's settings and assignments, all wall times moved by whole weeks.

    Nobody is in it but the instructor who asks; `dry_run` only says which dates the assignments would have.
    """

    do = "copy"
    right = Right.INSTRUCTOR
    to: Key
    weeks: Annotated[StrictInt, Field(ge=-MOST_WEEKS, le=MOST_WEEKS)]
    name: Annotated[Text, Field(min_length=1, max_length=80)] | None = None
    dry_run: StrictBool = False


class OptionalFields(ClassEvent):
    """Fields that may be left out; None is the value of but few of them."""

    nullable: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _has_values(cls, given: Any) -> Any:
        for name in cls.model_fields if isinstance(given, Mapping) else ():
            if name in given and given[name] is None and name not in cls.nullable:
                raise ValueError(f"`{name}` is null; leave it out, or give it a value")
        return given


class ClassSettings(OptionalFields):
    """What of a class can be changed; what is left out stays."""

    zone: Text | None = None
    bank: Days | None = None
    name: Annotated[Text, Field(min_length=1, max_length=80)] | None = None
    sections: Sections | None = None


class ChangeClass(OfClass):
    """Change a class's zone, bank, name or sections."""

    do = "class_change"
    right = Right.INSTRUCTOR
    set: ClassSettings


class Appoint(OfClass):
    """Make somebody an instructor, or an assistant for some sections; who is unknown gets an account."""

    do = "staff"
    right = Right.INSTRUCTOR
    person: Person
    name: Text
    role: Literal[Role.INSTRUCTOR, Role.ASSISTANT]
    sections: Sections = []


class Import(OfClass):
    """Bring a class to what a registrar's file says; `dry_run` only says what that would change."""

    do = "import"
    right = Right.INSTRUCTOR
    csv: Annotated[str, Field(strict=True)]
    file: Base64Bytes = b""  # in place of `csv`, the file as it is
    dry_run: StrictBool = False
    confirm: StrictInt | None = None


class ChangeMember(OfClass):
    """Move somebody into another section, or let them leave or come back."""

    do = "member"
    right = Right.INSTRUCTOR
    person: Person
    section: Section | None = None
    act: Literal["leave", "back"] | None = None


class LateFields(OptionalFields):
    """What lateness costs; what is left out stays as it was, or as it is without lateness."""

    nullable = ("cutoff",)
    per_day: Share | None = None
    at_most: Share | None = None
    of: ShareOf | None = None
    bank_max: Days | None = None
    cutoff: Days | None = None


class AssignmentFields(OptionalFields):
    """An assignment; what is left out stays as it was, or as it is usual."""

    nullable = ("attempts",)
    title: Text | None = None
    items: Items | None = None
    opens: Wall | None = None
    due: Wall | None = None
    section_due: dict[Section, Wall] | None = None
    grace: Grace | None = None
    late: LateFields | None = None
    count: Count | None = None
    attempts: Attempts | None = None
    show: Show | None = None
    show_checks: dict[Dimension, Show] | None = None


class Assign(OfClass, AssignmentFields):
    """Make an assignment, with a key that is free in its class."""

    do = "assign"
    right = Right.INSTRUCTOR
    assignment: Key
    items: Items
    opens: Wall
    due: Wall


class ChangeAssignment(OfClass):
    """Change an assignment: `late` field by field, the others as a whole. `revision` is that which was seen."""

    do = "assign_change"
    right = Right.INSTRUCTOR
    assignment: str
    set: AssignmentFields
    revision: StrictInt | None = None


class AssignAll(OfClass):
    """Make or change several assignments, all of them or none; `dry_run` only says what that would change.

    Each has the fields of `assign`. Of one that there is already those that are left out stay, and it may have the
    `revision` that was seen.
    """

    do = "assign_all"
    right = Right.INSTRUCTOR
    assignments: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=500)]
    dry_run: StrictBool = False


class Grant(OfClass):
    """Grant somebody something, or withdraw it with None; a due time is a minute on the class's wall."""

    do = "except"
    right = Right.INSTRUCTOR
    person: Person
    assignment: str | None = None
    field: Granting
    value: Any
    reason: Reason


class GrantAll(OfClass):
    """Grant what each line of a file says, all of it or nothing; `dry_run` only says what that would change.

    Its columns are `person`, `assignment`, `what`, `value` and `reason`; an empty value withdraws.
    """

    do = "except_all"
    right = Right.INSTRUCTOR
    csv: Annotated[str, Field(strict=True)] = ""
    file: Base64Bytes = b""  # in place of `csv`, the file as it is
    dry_run: StrictBool = False


class Override(OfClass):
    """Replace a cell's points, or withdraw that with None. `revision` is that which was seen."""

    do = "override"
    right = Right.INSTRUCTOR
    person: Person
    assignment: str
    points: Points | None
    reason: Reason
    revision: StrictInt | None = None


class HandInWork(OfClass):
    """Hand in to an assignment, or for practice: a source to be graded, or a result that is given."""

    do = "hand_in"
    right = Right.MEMBER
    person: Person
    assignment: str | None = None
    exercise: Exercise
    id: SubmissionKey
    score: Score | None = None
    scores: dict[str, Score] | None = None
    status: Literal["ungradable", "rejected", "ours", "cancelled"] | None = None
    source: str | None = None
    source_file: str | None = None

    @model_validator(mode="after")
    def _has_one_result(self) -> HandInWork:
        if sum(getattr(self, name) is not None for name in ONE_OF) != 1:
            raise ValueError(f"exactly one of {', '.join(ONE_OF)} is expected")
        return self


class SetAside(ClassEvent):
    """Let an attempt of one's own count no longer; `undo` lets it count again."""

    do = "aside"
    right = Right.OWNER
    person: Person
    id: str
    undo: StrictBool = False


class SetVersion(ClassEvent):
    """Have given results of an exercise count as its version says from now on."""

    do = "version"
    right = Right.ADMINISTRATOR
    exercise: Exercise
    version: Annotated[str, Field(strict=True, min_length=1, max_length=80)]


class Regrade(OfClass):
    """Grade a class's attempts at an exercise once more, and show what that would change; nothing counts yet.

    Those are all of them, or those at one assignment, of some people, or of a list of ids; with `only_counting` those
    that could count.
    """

    do = "regrade"
    right = Right.INSTRUCTOR
    exercise: Exercise
    change: Key
    reason: Reason
    keep: Literal["new", "better"] = "new"
    assignment: str | None = None
    people: Annotated[list[Person], Field(max_length=10_000)] | None = None
    attempts: Annotated[list[str], Field(max_length=100_000)] | None = None
    only_counting: StrictBool = False


class LookAtChange(OfClass):
    """Ask how far a regrade is, and what its results would change; `seen` stands for that when it is applied."""

    do = "change"
    right = Right.INSTRUCTOR
    is_question = True
    change: str


class BothResults(OfClass):
    """Ask for the reports on an attempt before a regrade and by it; its student may once that counts and is shown."""

    do = "results"
    right = Right.STUDENT
    is_question = True
    person: Person
    change: str
    attempt: str


class ListChanges(OfClass):
    """Ask for the regrades of a class, the latest first."""

    do = "changes"
    right = Right.INSTRUCTOR
    is_question = True


class Apply(OfClass):
    """Let the results of a regrade count, if they change exactly what was shown.

    What was shown is `seen`; without it, what was shown when it was made, which is so for given results.
    """

    do = "apply"
    right = Right.INSTRUCTOR
    change: str
    seen: Annotated[str, Field(max_length=64)] | None = None


class CancelChange(OfClass):
    """Let the results of a regrade never count."""

    do = "cancel_change"
    right = Right.INSTRUCTOR
    change: str


class Publish(OfClass):
    """Publish an assignment's results, to all but those who are held back."""

    do = "publish"
    right = Right.INSTRUCTOR
    assignment: str
    hold: list[Person] = []


class Release(OfClass):
    """Let a publication reach somebody who was held back."""

    do = "release"
    right = Right.INSTRUCTOR
    assignment: str
    person: Person


class Delete(ClassEvent):
    """Delete a person with everything that they have done."""

    do = "delete"
    right = Right.OWNER
    person: Person


class WhatIf(OfClass):
    """Ask what a change would do; nothing is stored."""

    do = "whatif"
    right = Right.INSTRUCTOR
    is_question = True
    change: dict[str, Any]


class Grades(OfClass):
    """Ask for the gradebook."""

    do = "grades"
    right = Right.STAFF
    is_question = True


class Own(OfClass):
    """Ask for a student's line as they may see it."""

    do = "own"
    right = Right.STUDENT
    is_question = True
    person: Person


class Agenda(OfClass):
    """Ask for a student's assignments, with what a hand-in costs now."""

    do = "agenda"
    right = Right.STUDENT
    is_question = True
    person: Person


class NoteRead(OfClass):
    """Mark notices as read; `agenda` leaves them out from then on."""

    do = "notices_read"
    right = Right.MEMBER
    person: Person
    ids: Annotated[list[StrictInt], Field(max_length=1000)]


class Deadline(OfClass):
    """Ask until when a student may hand in."""

    do = "deadline"
    right = Right.STUDENT
    is_question = True
    person: Person
    assignment: str


class Board(OfClass):
    """Ask for the board of an item."""

    do = "board"
    right = Right.MEMBER
    is_question = True
    assignment: str
    exercise: str


class Mistakes(OfClass):
    """Ask what a class misunderstands: in all, at one exercise or assignment, in one section, in one week.

    A week is named by the first of its seven days, in the class's zone.
    """

    do = "mistakes"
    right = Right.STAFF
    is_question = True
    exercise: Exercise | None = None
    assignment: str | None = None
    section: str | None = None
    week: Annotated[date, Field(ge=date(1970, 1, 1), le=date(2999, 12, 1))] | None = None


class Export(OfClass):
    """Ask for the gradebook as a file, or for one attempt's report, for which `attempt` is its id."""

    do = "export"
    right = Right.INSTRUCTOR
    is_question = True
    format: Format
    missing_as_zero: StrictBool = False
    attempt: str | None = None


class ReadRoster(OfClass):
    """Ask what a registrar's file says, line by line."""

    do = "roster"
    right = Right.INSTRUCTOR
    is_question = True
    csv: Annotated[str, Field(strict=True)]
    file: Base64Bytes = b""


class Desk(OfClass):
    """Ask for a class as its staff work on it: settings, sections, assignments with their revisions."""

    do = "desk"
    right = Right.STAFF
    is_question = True


class OneCell(OfClass):
    """Ask for all that belongs to a cell: attempts, exceptions, overrides, comments, and what was done to it."""

    do = "cell"
    right = Right.STAFF
    is_question = True
    person: Person
    assignment: str


class Audit(OfClass):
    """Ask what staff have done to the class."""

    do = "audit"
    right = Right.INSTRUCTOR
    is_question = True


class ListClasses(ClassEvent):
    """Ask for all classes of the installation."""

    do = "classes"
    right = Right.ADMINISTRATOR
    is_question = True


class Comment(OfClass):
    """Write something to a cell, for the student too or for staff only."""

    do = "comment"
    right = Right.STAFF
    person: Person
    assignment: str
    text: Annotated[Reason, Field(min_length=1)]
    shown: StrictBool = False


class Look(OfClass):
    """See a class as a student does; the audit tells of it."""

    do = "look"
    right = Right.STAFF
    person: Person


EVENTS: Mapping[str, type[ClassEvent]] = {
    one.do: one
    for one in (
        MakeClass, ChangeClass, Appoint, Import, ChangeMember, Assign, ChangeAssignment, Grant, GrantAll, Override,
        HandInWork, SetAside, SetVersion, Regrade, LookAtChange, ListChanges, Apply, CancelChange, Publish, Release,
        BothResults, Delete, WhatIf, Grades, Own, Deadline, Board, Agenda, NoteRead, CopyClass, AssignAll, Export,
        Audit, Mistakes, ListClasses, ReadRoster, Desk, OneCell, Comment, Look,
    )
}  # fmt: skip
PREVIEWED = ("assign_change", "class_change", "except", "override", "member")


def wrong_fields(do: str, given: Mapping[str, Any]) -> str:
    """Return which field is missing or unknown, in words; empty if none is."""
    if do not in EVENTS:
        return f"`do` is {do[:40]!r}; it is one of {', '.join(EVENTS)}"
    wrong = next(_wrong(do, EVENTS[do], given), "")
    if not wrong and do == "hand_in" and not any(name in given for name in ONE_OF):
        wrong = f"`hand_in` has one of {', '.join(ONE_OF)}"
    if not wrong and do == "whatif":
        return _wrong_change(given["change"])
    return wrong


def _wrong_change(change: Any) -> str:
    if not isinstance(change, Mapping) or change.get("do") not in PREVIEWED:
        return f"`change` is an object whose `do` is one of {', '.join(PREVIEWED)}"
    inner = {name: value for name, value in change.items() if name != "do"}
    if "class" in inner:
        return "`change` has no field `class`: it is about the class of `whatif`"
    return wrong_fields(change["do"], {"class": "", **inner})


def _wrong(where: str, kind: type[ClassEvent], given: Mapping[str, Any]) -> Iterator[str]:
    names = {field.alias or name: field.is_required() for name, field in kind.model_fields.items()}
    for name in names:
        if names[name] and name not in given:
            yield f"`{where}` lacks its field `{name}`"
    for name, value in given.items():
        if name not in names:
            yield f"`{where}` has no field `{name[:40]}`; its fields are {', '.join(names)}"
        elif (inner := _INNER.get((kind, name))) and isinstance(value, Mapping):
            yield from _wrong(f"{where}: {name}", inner, value)


_INNER: Mapping[tuple[type[ClassEvent], str], type[ClassEvent]] = {
    (ChangeClass, "set"): ClassSettings,
    (ChangeAssignment, "set"): AssignmentFields,
    (AssignmentFields, "late"): LateFields,
    (Assign, "late"): LateFields,
}
