"""Finds out in which line of a submission the time goes: after a while, whatever line runs there raises.

It is for a second look at code that ran out of time, never for a verdict: being watched makes code slower.
"""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

from grader.box.faults import SUBMISSION

Trace = Any  # what `sys.settrace` takes: a function that returns one like itself, or None


class _StillRunning(BaseException):
    """Raised in the line that runs when the time is over; no `except Exception` of the submission's stops it."""


STILL_RUNNING = _StillRunning.__name__  # by which it is known in what was seen


def raise_after(seconds: float) -> None:
    """Let the first line of the submission that begins more than `seconds` from now raise.

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
