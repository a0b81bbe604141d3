"""Who may do what: the one place that decides it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.errors import NotAllowed
from grader.store.records import Role, User, UserId


class Action(StrEnum):
    """What a person asks for."""

    READ = "read"
    CANCEL = "cancel"
    RESET = "reset"  # a student's forgotten password
    RENAME = "rename"
    MANAGE = "manage"  # who belongs to the class, in which role, and its code


@dataclass(frozen=True, slots=True)
class OwnWork:
    """What a person handed in; None where there is nothing of that name."""

    owner: UserId | None


@dataclass(frozen=True, slots=True)
class OwnName:
    """The name of a person."""

    owner: UserId


@dataclass(frozen=True, slots=True)
class Roster:
    """The class: its people, their grades and their mistakes."""


Subject = OwnWork | OwnName | Roster
NOT_YOURS = "There is no such submission among yours."
INSTRUCTORS_ONLY = "This is for instructors only."


def authorize(person: User, action: Action, subject: Subject) -> None:
    """Return if the person may.

    Raises:
        NotAllowed: they may not; somebody else's work is answered as if it did not exist.
    """
    if not may(person, action, subject):
        raise NotAllowed(NOT_YOURS if isinstance(subject, OwnWork) else INSTRUCTORS_ONLY)


def may(person: User, action: Action, subject: Subject) -> bool:
    """Tell whether a person may."""
    match subject:
        case OwnWork(owner=None):
            return False
        case OwnWork(owner=owner):
            mine = owner == person.id or person.role is Role.INSTRUCTOR
            return mine and action in (Action.READ, Action.CANCEL)
        case OwnName(owner=owner):
            mine = owner == person.id or person.role is Role.INSTRUCTOR
            return mine and action is Action.RENAME and not person.visitor
        case Roster():
            mine = person.role is Role.INSTRUCTOR
            return mine and action in (Action.READ, Action.RESET, Action.MANAGE)
