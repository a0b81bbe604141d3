"""Does what can wait, while nobody waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

LOG = logging.getLogger(__name__)
QUIET_SECONDS = 0.5  # between a submission and the next piece of work
DONE_SECONDS = 5.0  # between two looks for more to do
FAILED_SECONDS = 60.0

# Does one piece, and ends it early where the function that it is given says no; returns whether there is more to do.
Work = Callable[[Callable[[], bool]], bool]


def use_idle_time(work: Work, idle: Callable[[], bool], stop: threading.Event) -> None:
    """Do `work` piece by piece while `idle` says yes, up to `stop`; what fails is tried again after a pause.

    After `stop` is set `idle` has to say no.
    """
    pause = QUIET_SECONDS
    while not stop.wait(pause):
        try:
            pause = QUIET_SECONDS if _interrupted(work, idle) else DONE_SECONDS
        except Exception:  # the next submissions are graded without it
            LOG.exception("the work of idle times failed; it is tried again in %s s", FAILED_SECONDS)
            pause = FAILED_SECONDS


def _interrupted(work: Work, idle: Callable[[], bool]) -> bool:
    """Do what there is to do; return whether a submission came before it was all done."""
    while idle():
        if not work(idle):
            return False
    return True
