"""The port to whatever runs a plan: the sandbox, a plain subprocess on one's own machine, or this very process.

Nothing is implemented here. `grader.sandbox` has the walls; `grader.box.inline` runs trusted code in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from grader.box.cancel import CancelToken

if TYPE_CHECKING:  # they bring torch, which whoever only prepares a box can do without
    from grader.box.observations import CallSeen, Observations
    from grader.box.plan import Plan


class Ending(StrEnum):
    """How a run ended, as seen from outside the student's process."""

    FINISHED = "finished"  # every event arrived
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"  # printed more than the cap
    CRASHED = "crashed"  # the process ended before its last event: signal, exit, abort
    PROTOCOL = "protocol"  # the answer broke the wire format


STARVED_FACTOR = 3.0  # no machine is so busy that a run may take longer than this many times its wall limit


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 8.0
    memory_bytes: int = 1 << 30  # over the process's size at rest
    output_bytes: int = 64 << 10
    source_bytes: int = 256 << 10


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run.

    Attributes:
        observations: everything that arrived before the end, also of a run that crashed.
        ending: how it ended; `detail` adds a word for the student (`SIGSEGV`, `exit code 3`).
        output: what the code printed, cut at the cap, as sent (clean it before showing).
        wall_seconds, cpu_seconds, memory_bytes: measured by the parent (memory: largest resident set).
        grown_bytes: what that is over the size at rest; 0 where nobody saw.
        killed: it was killed by somebody else, and nothing that was seen of it says why: where memory runs out the
            kernel may end a process for what its neighbours hold.
    """

    observations: Observations
    ending: Ending
    detail: str = ""
    output: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    grown_bytes: int = 0
    killed: bool = False


Progress = Callable[["CallSeen"], None]  # called with each call that has finished, and what was seen of it


class Box(Protocol):
    """Runs a plan on a source text and says what was seen.

    Raises:
        Stopped: the run was cancelled.
        GraderFault: the machinery failed; never because of anything in the source.
    """

    name: str  # what the report calls it: `sandbox (tier A)`, `plain subprocess`, …

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on the entry point defined by `source`; `cancel` kills it."""
        ...
