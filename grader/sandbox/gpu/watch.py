"""Watches from outside what a worker uses, where the kernel cannot be told to.

Memory is looked at fifty times a second: what a process takes in between is over its budget for that long.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

from grader.box.run import Ending, Limits

Meter = Callable[[int], int | None]  # bytes of the device's memory that a process has, None where nobody can say

_LOOK_SECONDS = 0.02
_SLACK = 64 << 20  # bytes of device memory beside what was reserved: the driver's own
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def resident(pid: int) -> int:
    """Return the resident set of process `pid`, in bytes; 0 once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def processor_seconds(pid: int) -> float:
    """Return the processor time of process `pid`, all threads together; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


class MemoryWatch:
    """Kills a process that takes more than its limits for the length of a block.

    `why` is set where it did: how the run ended, and a word for the student.
    """

    def __init__(self, pid: int, limits: Limits, kill: Callable[[], None], meter: Meter) -> None:
        self.why: tuple[Ending, str] | None = None
        self._pid = pid
        self._limits = limits
        self._kill = kill
        self._meter = meter
        self._resident, self._seconds, self._device = resident(pid), processor_seconds(pid), meter(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True, name="worker watch")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look_on(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self.why = self._excess()
            if self.why is not None:
                self._kill()
                return

    def _excess(self) -> tuple[Ending, str] | None:
        if resident(self._pid) - self._resident > self._limits.memory_bytes:
            return Ending.MEMORY, f"more than {self._limits.memory_bytes >> 20} MiB"
        if processor_seconds(self._pid) - self._seconds > self._limits.cpu_seconds:
            return Ending.TIMEOUT, f"more than {self._limits.cpu_seconds:g} s of processor time"
        used = self._meter(self._pid) if self._device is not None else None
        if used is not None and self._device is not None and used > self._device + _SLACK:
            return Ending.MEMORY, "more of the device's memory than was set aside for it"
        return None
