"""A run that somebody else ends."""

from __future__ import annotations

import time

import pytest

from grader.box.cancel import CancelToken
from grader.box.observations import CallSeen
from grader.box.run import Box, Limits
from grader.errors import Stopped
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.sheet import draw_up
from grader.sandbox.plain import PlainBox
from grader.sandbox.runner import Sandbox

HANGS_AT_THE_SECOND_CALL = """
calls = []

def softmax(x, dim=-1):
    calls.append(dim)
    while len(calls) > 1:
        pass
    return x
"""
LIMITS = Limits(cpu_seconds=60.0, wall_seconds=60.0)


@pytest.mark.parametrize("kind", [Sandbox, PlainBox])
def test_a_cancelled_token_ends_a_run_that_hangs(kind: type[Box], sandbox: Sandbox) -> None:
    """The limit of a minute is not waited for, and whoever waits is told why there is no run."""
    box, cancel, finished = sandbox if kind is Sandbox else PlainBox(), CancelToken(), []
    plan = draw_up(read_exercise(ROOT / "exercises" / "softmax"), 0).plan

    def stop(seen: CallSeen) -> None:
        finished.append(seen.name)
        cancel.cancel(Stopped("somebody pressed cancel"))

    start = time.monotonic()
    with pytest.raises(Stopped, match="somebody pressed cancel"):
        box.run(plan, HANGS_AT_THE_SECOND_CALL, LIMITS, stop, cancel=cancel)

    assert len(finished) == 1
    assert time.monotonic() - start < LIMITS.wall_seconds / 2


def test_a_late_callback_is_called_at_once() -> None:
    """A run that starts just after the cancel is ended too."""
    cancel, ended = CancelToken(), []
    cancel.cancel()

    with cancel.on_cancel(lambda: ended.append(True)):
        pass

    assert ended == [True]


def test_no_callback_is_called_after_its_block() -> None:
    """A late cancel cannot reach a descriptor that means something else by now."""
    cancel, ended = CancelToken(), []
    with cancel.on_cancel(lambda: ended.append(True)):
        pass

    cancel.cancel()

    assert ended == []
