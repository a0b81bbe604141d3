"""A run that somebody else ends."""

from __future__ import annotations

import pytest

from grader.box.leash import Leash
from grader.box.observations import CallSeen
from grader.box.run import Box, Ending, Limits
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
def test_a_pulled_leash_ends_a_run_that_hangs(kind: type[Box]) -> None:
    """What was finished before is there; the limit of a minute is not waited for."""
    box, leash, finished = kind(), Leash(), []
    plan = draw_up(read_exercise(ROOT / "exercises" / "softmax"), 0).plan

    def pull(seen: CallSeen) -> None:
        finished.append(seen.name)
        leash.pull()

    run = box.run(plan, HANGS_AT_THE_SECOND_CALL, LIMITS, pull, leash=leash)
    if isinstance(box, Sandbox):
        box.close()

    assert run.ending is not Ending.FINISHED
    assert finished == list(run.observations.calls)
    assert run.wall_seconds < LIMITS.wall_seconds / 2


def test_what_is_held_on_a_pulled_leash_ends_at_once() -> None:
    """A run that starts just after the cancel is ended too."""
    leash, ended = Leash(), []
    leash.pull()

    with leash.holding(lambda: ended.append(True)):
        pass

    assert ended == [True]


def test_nothing_is_ended_after_it_was_let_go() -> None:
    """A late cancel cannot reach a descriptor that means something else by now."""
    leash, ended = Leash(), []
    with leash.holding(lambda: ended.append(True)):
        pass

    leash.pull()

    assert ended == []
