"""Turns an exception of the student's code into a fact: where, which kind, what it said.

Where a submission has syntax of a Python that does not run it, the message says which Python has it.
"""

from __future__ import annotations

import re
import sys
import time
from types import FrameType, TracebackType
from typing import Any

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

_LONGEST = 300  # characters of a line that are looked at
_BROKEN_TEXT = re.compile(r"f-string: (?:expecting|unmatched|unterminated)")
_BACKSLASH = "f-string expression part cannot include a backslash"
# A quote in the braces of an f-string that is the string's own, up to the end of those braces.
_SAME_QUOTES = re.compile(r"""\b[rR]?[fF][rR]?(["'])(?:(?!\1).)*\{(?:(?!\1)[^}])*\1.*\1.*\}""")
_SYNTAX = {
    re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?="): (3, 12),
    re.compile(r"\s*(?:async\s+def|def|class)\s+\w+\s*\[.*\]\s*[(:]"): (3, 12),
    re.compile(r"""(?:.*[^\w"'])?[rR]?t[rR]?["']"""): (3, 14),
}


def describe(error: BaseException, stage: Stage) -> Raised:
    """Return the facts of `error`.

    Raises:
        KeyboardInterrupt: `error` is one; on one's own machine that is the person, not the code.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    line = error.lineno if isinstance(error, SyntaxError) else line_of(error.__traceback__)
    kind = type(error)
    bases = tuple(base.__name__ for base in kind.__mro__[1:] if base.__module__ == "builtins" and base is not object)
    return Raised(stage, _BLAME.get(kind, Blame.ERROR), kind.__name__, _text(error), line, bases=bases[:_MOST_BASES])


def _text(error: BaseException) -> str:
    try:
        message = str(error.msg) if isinstance(error, SyntaxError) else str(error)[:2000]
        if isinstance(error, ImportError) and error.path:
            message = message.replace(f" ({error.path})", "")  # a place on the grader's disk
        return message + (_newer_python(error, message) if isinstance(error, SyntaxError) else "")
    except BaseException:  # noqa: BLE001  # a submission's own __str__ may raise anything
        return "(its message could not be read)"


def line_of(trace: TracebackType | None) -> int | None:
    """Return the innermost line of the submission in a traceback."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SUBMISSION:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _newer_python(error: SyntaxError, said: str) -> str:
    """Return a clause on the Python that has the syntax of a line; empty where it is another error."""
    line, wanted = (error.text or "")[:_LONGEST], None
    if said.startswith(_BACKSLASH) or (_BROKEN_TEXT.match(said) and _SAME_QUOTES.search(line)):
        wanted = (3, 12)
    elif said in ("invalid syntax", "expected '('"):
        wanted = next((version for pattern, version in _SYNTAX.items() if pattern.match(line)), None)
    own = sys.version_info[:2]
    if wanted is None or wanted <= own:
        return ""
    which, here = (".".join(map(str, version)) for version in (wanted, own))
    return f"; this is new in Python {which}, and your file is run with Python {here}; write what works there"


Trace = Any  # what `sys.settrace` takes: a function that returns one like itself, or None


class _StillRunning(BaseException):
    """Raised in the line that runs when the time is over; no `except Exception` of the submission's stops it."""


STILL_RUNNING = _StillRunning.__name__  # by which it is known in what was seen


def raise_after(seconds: float) -> None:
    """Let the first line of the submission that begins more than `seconds` from now raise: there the time goes.

    For a second look at code that ran out of time, never for a verdict: being watched makes code slower.

    Lines that wait in C code, without coming to an end, are not told.

    Raises:
        TypeError: `seconds` is no float; a submission that finds this function may call it with anything.
    """
    if type(seconds) is not float:
        raise TypeError("the time must be a float")
    end, clock = time.monotonic() + seconds, time.monotonic

    def in_frame(frame: FrameType, event: str, arg: Any) -> Trace:
        if clock() > end:
            raise _StillRunning
        return in_frame

    def trace(frame: FrameType, event: str, arg: Any) -> Trace:
        if frame.f_code.co_filename != SUBMISSION:
            return None
        frame.f_trace_opcodes = True  # a loop within one line begins no line
        return in_frame

    sys.settrace(trace)
