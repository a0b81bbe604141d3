"""Turns an exception of the student's code into a fact: where, which kind, what it said."""

from __future__ import annotations

from types import TracebackType

from grader.box.newer_python import newer_python
from grader.box.observations import Blame, Raised, Stage
from grader.errors import ArgumentMismatch, ForbiddenCall, Rejected, Ungradable

SUBMISSION = "<submission>"  # the file name that the student's code is compiled under
_MOST_BASES = 8
_BLAME = {
    ForbiddenCall: Blame.FORBIDDEN,
    ArgumentMismatch: Blame.ARGUMENT,
    Ungradable: Blame.WEIGHTS,
    Rejected: Blame.ENTRY,
}


def describe(error: BaseException, stage: Stage) -> Raised:
    """Return the facts of `error`.

    Raises:
        KeyboardInterrupt: `error` is one; on one's own machine that is the person, not the code.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    line = error.lineno if isinstance(error, SyntaxError) else _line(error.__traceback__)
    kind = type(error)
    bases = tuple(base.__name__ for base in kind.__mro__[1:] if base.__module__ == "builtins" and base is not object)
    return Raised(stage, _BLAME.get(kind, Blame.ERROR), kind.__name__, _text(error), line, bases=bases[:_MOST_BASES])


def _text(error: BaseException) -> str:
    try:
        message = str(error.msg) if isinstance(error, SyntaxError) else str(error)[:2000]
        if isinstance(error, ImportError) and error.path:
            message = message.replace(f" ({error.path})", "")  # a place on the grader's disk
        return message + newer_python(error, message)
    except BaseException:  # noqa: BLE001  # a submission's own __str__ may raise anything
        return "(its message could not be read)"


def _line(trace: TracebackType | None) -> int | None:
    """Return the innermost line of the submission in a traceback."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SUBMISSION:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
