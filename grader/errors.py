"""Every error that more than one part of the grader knows, in one tree; a part's own errors are leaves of it.

Two families answer the first question of any failure, *whose fault is it?*

- `SubmissionFault`: the submission's. Its text is written to the student, is shown, and may cost points.
- `GraderFault`: ours. Its text goes to the log under an id; the student gets an apology, and it never costs points.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SUBMISSION: ContextVar[str] = ContextVar("submission", default="")  # the id that log entries are written with
ID_LENGTH = 64  # what a browser calls an id may be longer


class GraderError(Exception):
    """The root of the tree; never raised itself."""


class SubmissionFault(GraderError):
    """What the student handed in cannot be graded as it stands; the text says why, to them."""


class Rejected(SubmissionFault):
    """The source is refused before any check runs: empty, too long, not text, not Python, no entry point."""


class Ungradable(SubmissionFault):
    """The code runs, but its weights cannot be matched with the contract's; uses up no attempt."""


class ArgumentMismatch(SubmissionFault):
    """The code lacks an argument that the case at hand needs."""


class ForbiddenCall(SubmissionFault):
    """The code reached for a ready-made answer; `what` is the name of the operation it called."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not allowed in this exercise: write that step yourself")
        self.what = what


class BadAnswer(SubmissionFault):
    """What came out of the sandbox is not what the wire format allows."""


class NotAllowed(SubmissionFault):
    """A person asked for something that their role or the rules of the class do not permit."""


class WrongPassword(NotAllowed):
    """A name and a password do not belong together; whoever knows the name says what that means there."""


class GraderFault(GraderError):
    """Something of ours broke; retried, and never held against the student.

    `incident` is the id under which it is in the log already, as that of an outage is; empty if it is not.
    """

    incident = ""


class Stopped(GraderFault):
    """What was under way was stopped from outside, since nobody waits for it now; nothing has come of it."""


class Killed(GraderFault):
    """What ran a submission was killed by somebody else; nothing says yet that the submission was the reason."""


class SandboxUnavailable(GraderFault):
    """This machine lacks a wall that the sandbox cannot do without."""


class AuthorError(GraderFault):
    """An exercise is written wrongly; the text names the file, the thing in backticks, and the remedy."""


class SettingsError(GraderFault):
    """A setting has a value that cannot be used; the text names the variable, the value and the expected form."""


class DatabaseUnusable(GraderFault):
    """The database of the settings cannot be used as it is; the text says which one, why, and what to do."""


def record(log: logging.Logger, what: str, fault: Exception | None = None) -> str:
    """Write a fault of ours to `log` under a fresh id; return the id, which is all that a student is shown of it.

    What is in the log already is not written again: of an outage that everybody meets there is one line.
    """
    if isinstance(fault, GraderFault) and fault.incident:
        return fault.incident
    incident = secrets.token_hex(4)
    said = f": {fault!r}" if fault else ""
    log.error("incident %s: %s%s", incident, what, said, exc_info=fault, extra={"incident": incident})
    return incident


@contextmanager
def logged_for(submission: str) -> Iterator[None]:
    """Let every log entry of this thread or task, for the length of a block, say which submission it is about."""
    token = SUBMISSION.set(submission[:ID_LENGTH])
    try:
        yield
    finally:
        SUBMISSION.reset(token)
