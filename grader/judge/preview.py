"""Reads a submission's source while its run is under way.

The process that grades has nothing to do once the reference is done, and what was read by then need not be waited for.
The source is read only after its first call has finished: no parser is to meet here what it has not survived in the
box.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from grader.box.observations import CallSeen
from grader.box.plan import Plan
from grader.box.run import Progress, Run
from grader.judge.inspection import read

_PATIENCE = 1.0  # seconds; a run whose first call takes longer is none that anybody counts milliseconds of


class Preview:
    """One submission's run, which is followed so that its source is read in time."""

    def __init__(self, run: Callable[..., Run], progress: Progress | None) -> None:
        self._run, self._progress = run, progress
        self._turn = threading.Event()  # a call has finished, or the run is over
        self._called = False

    def run(self, plan: Plan, source: str) -> Run:
        """Run `plan` on `source`; `progress` is called as usual."""
        try:
            return self._run(plan, source, progress=self._saw)
        finally:
            self._turn.set()

    def read(self, text: str, plan: Plan) -> None:
        """Read `text` once it has run so far that it may be read here; the inspection keeps what it finds."""
        if self._turn.wait(_PATIENCE) and self._called:
            with suppress(Exception):  # it comes again when the report is written, and is told there
                read(text, plan.forbidden, plan.entries)

    def _saw(self, call: CallSeen) -> None:
        self._called = True
        self._turn.set()
        if self._progress is not None:
            self._progress(call)
