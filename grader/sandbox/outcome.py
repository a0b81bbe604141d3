"""How a run ended, told from facts that the student's process cannot forge."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from grader.box.run import Ending, Limits
from grader.sandbox.interior import OUT_OF_MEMORY

_SIGKILL, _SIGXCPU = 9, 24  # by number, since Windows has neither name
_NEAR = 0.8  # of the budget: where a death is put down to memory
_MUCH = 0.5  # of the processor time: the kernel counts the limit in ticks, the use exactly; a busy machine parts them


@dataclass(frozen=True, slots=True)
class Facts:
    """What the runner and the kernel know about a run that is over.

    Attributes:
        finished: the last frame of the answer was read.
        broken: what the answer did against the wire format, or nothing.
        overflow: more was printed than is kept.
        late: the wall clock ran out.
        spent: it was ended for its processor time, as the scheduler counts it.
        hoarded: it was ended for its memory, as the kernel counts the pages.
        ended: it was ended by us, for whatever reason.
        code: the exit code of the child, or minus the number of the signal that killed it.
        cpu_seconds: processor time that it used.
        wall_seconds: time that passed from its beginning to its end.
        grown_bytes: its largest resident set, over that of a child that does nothing.
        short: the kernel killed a process for lack of memory meanwhile, whichever; also where no kernel counts them.
            Nobody looks for it after a run that has finished.
    """

    finished: bool = False
    broken: str = ""
    overflow: bool = False
    late: bool = False
    spent: bool = False
    hoarded: bool = False
    ended: bool = False
    code: int = 0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    grown_bytes: int = 0
    short: bool = True


def ending(facts: Facts, limits: Limits) -> tuple[Ending, str]:
    """Return how a run ended and a word for the student.

    An exception for lack of memory that the student's code raised is an observation of a finished run. MEMORY is for a
    process that ended early and either had nearly all of its budget, or could not even report the exception, or was
    killed by the kernel with processor time to spare.
    """
    if facts.broken:
        return Ending.PROTOCOL, facts.broken
    if facts.overflow:
        return Ending.OUTPUT, f"more than {limits.output_bytes} bytes"
    if facts.finished:
        return Ending.FINISHED, ""
    # Whoever has filled its memory may spend the rest of its time on asking for more: what it lacked was memory.
    if facts.hoarded or (facts.spent and facts.grown_bytes > limits.memory_bytes):
        return Ending.MEMORY, _much(limits)
    if facts.spent:
        return Ending.TIMEOUT, _long(limits)
    if facts.late:
        return Ending.TIMEOUT, f"more than {limits.wall_seconds:g} s in all"
    return _early(facts, limits)


def explained(facts: Facts, limits: Limits) -> bool:
    """Return whether what was seen of a run that is out of memory says so: who was merely killed may be a victim."""
    seen = facts.hoarded or facts.code == OUT_OF_MEMORY or facts.grown_bytes >= _NEAR * limits.memory_bytes
    return seen or facts.ended or facts.code != -_SIGKILL


def _early(facts: Facts, limits: Limits) -> tuple[Ending, str]:
    """Explain a process that ended by itself, or by the kernel's hand, before its answer was complete."""
    killed = facts.code in (-_SIGKILL, -_SIGXCPU)
    # The kernel's own limit is charged by the tick. Whoever is awake at each and asleep in between reaches it with next
    # to no use, which must not pass for a machine without memory: what that killed is graded again, and stops others.
    charged = facts.cpu_seconds if facts.short else max(facts.cpu_seconds, facts.wall_seconds)
    if killed and charged >= _MUCH * limits.cpu_seconds:
        return Ending.TIMEOUT, _long(limits)
    if killed or facts.code == OUT_OF_MEMORY or facts.grown_bytes >= _NEAR * limits.memory_bytes:
        return Ending.MEMORY, _much(limits)
    if facts.code < 0:
        return Ending.CRASHED, signal.Signals(-facts.code).name
    return Ending.CRASHED, f"exit code {facts.code}"


def _long(limits: Limits) -> str:
    return f"more than {limits.cpu_seconds:g} s of processor time"


def _much(limits: Limits) -> str:
    return f"more than {limits.memory_bytes >> 20} MiB"
