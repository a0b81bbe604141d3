"""Who may do what: the one place that decides it."""

from __future__ import annotations

from grader.errors import NotAllowed
from grader.store import people
from grader.store.engine import Session
from grader.store.records import Role, User

NOT_YOURS = "There is no such submission among yours."
INSTRUCTORS_ONLY = "This is for instructors only."


def is_instructor(session: Session, person: User, class_id: int) -> bool:
    """Return whether somebody teaches a class now."""
    return people.role_in(session, class_id, person.id) is Role.INSTRUCTOR


def check_instructor(session: Session, person: User, class_id: int) -> None:
    """Return if somebody teaches a class now.

    Raises:
        NotAllowed: they do not; a class that does not exist is answered in the same way.
    """
    if not is_instructor(session, person, class_id):
        raise NotAllowed(INSTRUCTORS_ONLY)
