"""Runs trusted code in this very process: the reference, known mistakes, and benchmarks. No walls at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from grader.box import loading
from grader.box.cancel import CancelToken
from grader.box.observations import CallSeen, Event, Observations
from grader.box.observe import Load, alone, observe
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run


def observe_all(plan: Plan, load: Load) -> Observations:
    """Return everything that `plan` shows of the entry point that `load` provides."""
    with alone():
        return Observations.of(observe(plan, load))


class InlineBox:
    """A box without walls, for code that is trusted. Forbidden operations are not trapped in it."""

    name = "this process (no sandbox)"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on `source` in place; neither `limits` nor `cancel` is heeded."""
        start = time.perf_counter()
        told: list[Event] = []
        load = partial(loading.load, source, plan.entries, told.append, bare=plan.bare)
        events = list(_told(observe(plan, load), progress))
        events = [*told, *events]
        return Run(Observations.of(events), Ending.FINISHED, wall_seconds=time.perf_counter() - start)


def _told(events: Iterator[Event], progress: Progress | None) -> Iterator[Event]:
    for event in events:
        if progress is not None and isinstance(event, CallSeen):
            progress(event)
        yield event
