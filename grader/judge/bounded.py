"""Bounds what is done for one answer, most of it after its verdict, whatever the answer sends or does.

Runs of the answer are bounded by time, runs of the reference where they are made. Every comparison says what it costs
before it is made. These costs are counted, not measured, so that a busy machine changes nothing; one unit takes about a
microsecond. Honest answers need up to half a million; one that sends hundreds of tensors with the sizes and the sum of
a step's result would need twenty million.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from grader.box.observations import Observations
from grader.box.run import Ending, Run
from grader.errors import GraderFault

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class TooMuchWork(GraderFault):
    """What is looked for would take more work than it is worth."""


@dataclass(slots=True)
class WorkCounter:
    """How much work may still be done."""

    left: int


# Not handed over from function to function: no comparison, wherever it is made, can be forgotten in this way.
_WORK: ContextVar[WorkCounter | None] = ContextVar("work", default=None)


def within(most: int, find: Callable[[], Found]) -> Found | None:
    """Return what `find` returns; None if that would take more work than `most`."""
    token = _WORK.set(WorkCounter(most))
    try:
        return find()
    except TooMuchWork:
        return None
    finally:
        _WORK.reset(token)


def spend(cost: int) -> None:
    """Take note of work, if it is bounded at all.

    Raises:
        TooMuchWork: there has been too much of it.
    """
    work = _WORK.get()
    if work is not None:
        work.left -= cost
        if work.left < 0:
            raise TooMuchWork


def while_there_is_time(run: Callable[Arguments, Run], seconds: float) -> Callable[Arguments, Run]:
    """Return `run`, which starts nothing any more once its runs have taken `seconds` together, by the clock.

    What it gives then is a run that was stopped at once. So an answer that sleeps whenever it is recorded keeps others
    waiting once, however many runs there would have been.
    """
    taken = 0.0

    def limited(*arguments: Arguments.args, **options: Arguments.kwargs) -> Run:
        nonlocal taken
        if taken >= seconds:
            return Run(Observations(), Ending.TIMEOUT)
        done = run(*arguments, **options)
        taken += done.wall_seconds
        return done

    return limited
