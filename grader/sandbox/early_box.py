"""A box that is begun before the command that wants it is imported, since the box takes longest."""

from __future__ import annotations

import atexit
import gc
from contextlib import suppress

from grader import stopping
from grader.sandbox.choice import BoxToCome

_BEGUN: list[BoxToCome] = []


def begin() -> None:
    """Begin a box; it is ended with this process if nobody takes it."""
    gc.disable()  # as `grader.local` does, until there is a box
    with suppress(OSError):  # no process or descriptor to be had: whoever takes a box is told
        _BEGUN.append(coming := _a_box())
        stopping.end_first(coming.kill)
        atexit.register(_end)


def take() -> BoxToCome:
    """Return the box that was begun, or one that begins now; the caller closes it."""
    return _BEGUN.pop() if _BEGUN else _a_box()


def _a_box() -> BoxToCome:
    return BoxToCome(brief=True)  # for a file or two, a quick start matters more than quick runs


def _end() -> None:
    for coming in _BEGUN:
        coming.close()
