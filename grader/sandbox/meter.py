"""Reads what a child has used from the kernel's own accounts while it runs, and says when that is too much.

The limits of a process are not exact against code that knows how they are counted. RLIMIT_CPU counts whole ticks: a
child that sleeps at each tick is never charged. RLIMIT_AS counts addresses: a child that unmaps the libraries that it
was forked with may fill their place with memory of its own. The scheduler's run time and the number of anonymous pages
cannot be argued with.

Not covered: pages that no process maps any more, such as those of shared memory; the filter has to forbid making them.
Where a kernel keeps no run time in /proc (it then has neither CONFIG_SCHED_INFO nor a schedstat), the limits of the
process and the wall clock are all there is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from resource import getpagesize

from grader.box.run import Limits

_LOOK_SECONDS = 0.02  # between two looks at the memory, of which a core touches some 40 MiB meanwhile
_LEAST_SECONDS = 0.002  # between any two looks
_MARGIN = 16  # a sixteenth more memory than allowed: libraries have private pages too, which a write makes anonymous


@dataclass(frozen=True, slots=True)
class Use:
    """What a process has used: processor time in seconds, and bytes of memory that is backed by no file."""

    seconds: float = 0.0
    memory: int = 0


class Meter:
    """Holds the use of one child against its limits; `spent` and `hoarded` say which one it exceeds."""

    def __init__(self, limits: Limits, before: Use) -> None:
        """Count from `before` on, which is none of the run's."""
        self._seconds = before.seconds + limits.cpu_seconds
        self._memory = before.memory + limits.memory_bytes + limits.memory_bytes // _MARGIN
        self.spent = False
        self.hoarded = False

    def look(self, use: Use) -> float:
        """Take note of a child's use; return in how many seconds to look again.

        A process with one thread cannot use more processor time than passes meanwhile, so what is left of it says when
        the limit can be reached at the earliest.
        """
        self.spent = use.seconds >= self._seconds
        self.hoarded = use.memory > self._memory
        return max(_LEAST_SECONDS, min(_LOOK_SECONDS, self._seconds - use.seconds))


class KernelAccounts:
    """The kernel's accounts of one process, which remain its own after its end; without numbers where nobody tells.

    The files may be read by anybody, whoever owns the process.
    """

    def __init__(self, pid: int) -> None:
        """Open them for the process that has this id now."""
        self._time, self._memory = _opened(f"/proc/{pid}/schedstat"), _opened(f"/proc/{pid}/statm")
        self._status = _opened(f"/proc/{pid}/status")

    def use(self) -> Use:
        """Return what it has used up to now; nothing once it has ended."""
        seconds, pages = _numbers(self._time), _numbers(self._memory)
        return Use(
            seconds=seconds[0] / 1e9 if seconds else 0.0,
            memory=(pages[1] - pages[2]) * getpagesize() if pages else 0,
        )

    def largest_resident(self) -> int | None:
        """Return the largest resident set that it has had, in bytes; None once it has ended, or where nobody tells."""
        _, found, rest = _read(self._status, 4096).partition(b"VmHWM:")
        return int(rest.split(maxsplit=1)[0]) << 10 if found else None

    def seconds_without_core(self) -> float:
        """Return how long it could have run but others had the cores."""
        times = _numbers(self._time)
        return times[1] / 1e9 if len(times) > 1 else 0.0

    def close(self) -> None:
        """Close the files."""
        for descriptor in (self._time, self._memory, self._status):
            if descriptor >= 0:
                os.close(descriptor)
        self._time = self._memory = self._status = -1


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _numbers(descriptor: int) -> list[int]:
    return [int(word) for word in _read(descriptor, 256).split()]


def _read(descriptor: int, most: int) -> bytes:
    try:
        return os.pread(descriptor, most, 0)
    except OSError:
        return b""
