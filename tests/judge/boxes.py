"""A box for tests of the judge: it runs an answer honestly in this process, and tells what the test wants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run

Honest = Callable[[Plan], Run]


class TellingBox:
    """A box whose `tell` gets each plan and what runs it, and returns what the judge is told; `ran` keeps the plans."""

    def __init__(self, tell: Callable[[Plan, Honest], Run] = lambda plan, honest: honest(plan)) -> None:
        self.name = "telling"
        self.ran: list[Plan] = []
        self._tell = tell

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Return what is told of `source`."""
        self.ran.append(plan)
        return self._tell(
            plan, partial(InlineBox().run, source=source, limits=limits, progress=progress, cancel=cancel)
        )
