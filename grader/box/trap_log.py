"""Notes every trapped call at once and sends it off, so that code which catches the exception leaves a trace too.

So is what was let through and no answer needs, once each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from grader.box.faults import SUBMISSION
from grader.box.frames import NOTICES, TRAP_HITS
from grader.box.observations import TrapHit


class TrapLog:
    """Whom the traps tell; it sends the first few places of each call, and each place once."""

    def __init__(self, send: Callable[[TrapHit], None]) -> None:
        """Send what is seen by `send`; until somebody says otherwise, the file is being loaded."""
        self.loading = True
        self._send = send
        self._seen: set[TrapHit] = set()
        self._noticed: set[str] = set()

    def record(self, what: str) -> None:
        """Take note of a trapped call, from within it."""
        line, function = _place()
        hit = TrapHit(what, line, function, self.loading)
        if hit not in self._seen and len(self._seen) < TRAP_HITS:
            self._send(hit)
            self._seen.add(hit)

    def notice(self, what: str) -> None:
        """Take note of what is let through, once each, before it is."""
        if what not in self._noticed and len(self._noticed) < NOTICES:
            line, function = _place()
            self._send(TrapHit(what, line, function, self.loading, noticed=True))
            self._noticed.add(what)

    def clear(self) -> None:
        """Forget the places: another call begins."""
        self._seen.clear()


def _place() -> tuple[int | None, str]:
    """Return the innermost line of the submission that is being run, and its function."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == SUBMISSION:
            return frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None, ""
