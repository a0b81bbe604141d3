"""What comes out of a run, and how it ended, told from facts that the student's process cannot forge."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from grader.box.observations import CallSeen, Observations
from grader.box.places import without_places
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress
from grader.box.wire.answer import FrameReader
from grader.errors import BadAnswer
from grader.sandbox.interior import OUT_OF_MEMORY

_SIGKILL, _SIGXCPU = 9, 24  # by number, since Windows has neither name
_NEAR = 0.8  # of the budget: where a death is put down to memory
_MUCH = 0.5  # of the processor time: the kernel counts the limit in ticks, the use exactly; a busy machine parts them


class Intake:
    """Takes the bytes of the answer and of the prints; `broken` is what the answer did against the wire format."""

    def __init__(self, plan: Plan, limits: Limits, progress: Progress | None) -> None:
        self._reader = FrameReader(plan)
        self._most = limits.output_bytes
        self._progress = progress
        self._output = bytearray()
        self.broken = ""

    @property
    def finished(self) -> bool:
        """Whether the last frame of the answer has come."""
        return self._reader.finished

    @property
    def overflow(self) -> bool:
        """Whether more was printed than is kept."""
        return len(self._output) > self._most

    @property
    def events(self) -> int:
        """How many events the answer has told up to now."""
        return len(self._reader.events)

    def take_answer(self, data: bytes) -> None:
        """Take a piece of the answer, and tell of each call that is whole; nothing is taken after a break."""
        if self.broken:
            return
        known = len(self._reader.events)
        try:
            self._reader.feed(data)
        except BadAnswer as error:
            self.broken = str(error)
        for event in self._reader.events[known:]:  # what came before the break counts, in one piece with it or not
            if self._progress is not None and isinstance(event, CallSeen):
                self._progress(event)

    def take_output(self, data: bytes) -> None:
        """Take a piece of the prints, up to the first byte that is too many."""
        self._output += data[: self._most + 1 - len(self._output)]

    def observations(self) -> Observations:
        """Return what was seen."""
        return Observations.of(self._reader.events)

    def text(self) -> str:
        """Return what was printed, without a word on where the grader lies."""
        return without_places(self._output[: self._most].decode(errors="replace"))


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
        overdrawn: it was ended for its memory on a device.
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
    overdrawn: bool = False
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
    long = f"more than {limits.cpu_seconds:g} s of processor time"
    much = f"more than {limits.memory_bytes >> 20} MiB"
    killed = facts.code in (-_SIGKILL, -_SIGXCPU)  # it ended by itself, or by the kernel's hand
    # The kernel's own limit is charged by the tick. Whoever is awake at each and asleep in between reaches it with next
    # to no use, which must not pass for a machine without memory: what that killed is graded again, and stops others.
    charged = facts.cpu_seconds if facts.short else max(facts.cpu_seconds, facts.wall_seconds)
    rules = (  # in order; the first that applies
        (facts.broken, Ending.PROTOCOL, facts.broken),
        (facts.overflow, Ending.OUTPUT, f"more than {limits.output_bytes} bytes"),
        (facts.finished, Ending.FINISHED, ""),
        (facts.overdrawn, Ending.MEMORY, "more of the device's memory than was set aside for it"),
        # Whoever has filled its memory may spend the rest of its time on asking for more: what it lacked was memory.
        (facts.hoarded or (facts.spent and facts.grown_bytes > limits.memory_bytes), Ending.MEMORY, much),
        (facts.spent, Ending.TIMEOUT, long),
        (facts.late, Ending.TIMEOUT, f"more than {limits.wall_seconds:g} s in all"),
        (killed and charged >= _MUCH * limits.cpu_seconds, Ending.TIMEOUT, long),
        (killed or _is_full(facts, limits), Ending.MEMORY, much),
    )
    for applies, kind, detail in rules:
        if applies:
            return kind, detail
    return Ending.CRASHED, signal.Signals(-facts.code).name if facts.code < 0 else f"exit code {facts.code}"


def explained(facts: Facts, limits: Limits) -> bool:
    """Return whether what was seen of a run that is out of memory says so: who was merely killed may be a victim."""
    seen = facts.hoarded or facts.overdrawn or _is_full(facts, limits)
    return seen or facts.ended or facts.code != -_SIGKILL


def _is_full(facts: Facts, limits: Limits) -> bool:
    return facts.code == OUT_OF_MEMORY or facts.grown_bytes >= _NEAR * limits.memory_bytes
