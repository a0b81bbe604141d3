"""How much may be done for one answer after its verdict, whatever the answer sends or does.

Work is counted and not timed, so that a busy machine finds what a quiet one does. Searches count runs of the reference
as `Effort`. Comparisons of tensors say what they cost before they are made (`spend`), wherever they are made, and end
with `TooMuchWork`: honest answers need up to half a million units; one that sends hundreds of tensors with the sizes
and the sum of a step's result would need twenty million. Only runs of the answer itself are bounded by the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.observations import Observations
from grader.box.run import Ending, Run
from grader.errors import GraderFault

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Units of effort: one stands for an operation of torch on small tensors, about ten microseconds of a processor.
RUN = 20  # of a run, beside its operations
EVENT = 60  # of a construction or a call whose operations nobody counted
COMPARISON = 6  # of two small tensors
GLANCE = 2  # at the sums of two tensors, after which most need no comparison


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be done for one answer after its verdict.

    Attributes:
        search: units of effort for known mistakes, one by one and two together.
        location: units of effort for the line where it begins to differ.
        comparisons: for that line as well, in units of `spend`, about a microsecond each.
        rerun_seconds: by the clock, for running the answer once more.
    """

    search: int
    location: int
    comparisons: int
    rerun_seconds: float


# The same in a service and on one's own machine, so that the same code gets the same sentences: 1.2 s and 1.5 s of a
# processor. A service starts no search while others wait for a verdict.
USUAL = Budget(search=120_000, location=150_000, comparisons=1_500_000, rerun_seconds=10.0)


@dataclass(slots=True)
class Effort:
    """At most `most` units may be used; `done` have been."""

    most: int
    done: int = field(default=0, init=False)

    def use(self, units: int) -> None:
        """Count work."""
        self.done += units

    @property
    def spent(self) -> bool:
        """Whether no more may be done."""
        return self.done >= self.most


class Operations(TorchDispatchMode):
    """Counts the operations of torch within its block."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.count: int = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as in the box's recorder: the wrapper that it asks for imports all of torch._dynamo

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        self.count += 1
        return func(*args, **(kwargs or {}))


class TooMuchWork(GraderFault):
    """What is looked for would take more work than it is worth."""


@dataclass(slots=True)
class _WorkLeft:
    units: int


# Not handed over from function to function: no comparison, wherever it is made, can be forgotten in this way.
_WORK: ContextVar[_WorkLeft | None] = ContextVar("work", default=None)


def within(most: int, find: Callable[[], Result]) -> Result | None:
    """Return what `find` returns; None if that would take more units of work than `most`."""
    token = _WORK.set(_WorkLeft(most))
    try:
        return find()
    except TooMuchWork:
        return None
    finally:
        _WORK.reset(token)


def spend(units: int) -> None:
    """Take note of work, if it is bounded at all.

    Raises:
        TooMuchWork: there has been too much of it.
    """
    work = _WORK.get()
    if work is not None:
        work.units -= units
        if work.units < 0:
            raise TooMuchWork


def while_there_is_time(run: Callable[Arguments, Run], seconds: float) -> Callable[Arguments, Run]:
    """Return `run`, which starts nothing any more once its runs have taken `seconds` together, by the clock.

    What it gives then is a run that was stopped at once. So an answer that sleeps whenever it is recorded keeps others
    waiting once, however many runs there would have been.
    """
    used = 0.0

    def limited(*arguments: Arguments.args, **options: Arguments.kwargs) -> Run:
        nonlocal used
        if used >= seconds:
            return Run(Observations(), Ending.TIMEOUT)
        done = run(*arguments, **options)
        used += done.wall_seconds
        return done

    return limited
