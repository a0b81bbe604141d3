"""How much a search may do, counted in work and not in seconds, so that a busy machine finds what a quiet one does.

A unit stands for one operation of torch on small tensors, with its share of all else: about ten microseconds of a
processor of 2026 that nobody else uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_EACH = 20  # units that a run takes beside its operations
_EVENT = 60  # units of a construction or a call whose operations nobody counted
_COMPARISON = 6  # units
_GLANCE = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be done for one answer after its verdict.

    Attributes:
        search: units for known mistakes, one by one and two together.
        location: units for the place where it begins to differ.
        comparisons: for that place as well, in units of `bounded`.
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
    """What may be done, and what has been done, in units.

    Attributes:
        most: units that may be spent.
        done: units that were spent.
    """

    most: int
    done: int = field(default=0, init=False)

    def run(self, operations: int) -> None:
        """Count one run of a reference that asks torch for so many operations."""
        self.done += operations + _EACH

    def event(self) -> None:
        """Count one construction or call of a reference."""
        self.done += _EVENT

    def compare(self) -> None:
        """Count one comparison of two small tensors."""
        self.done += _COMPARISON

    def glance(self) -> None:
        """Count one look at the sums of two tensors, after which most need no comparison."""
        self.done += _GLANCE

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
