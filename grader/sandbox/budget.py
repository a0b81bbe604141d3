"""How many submissions may run at once in the memory that there is, so that all limits together can be kept.

A child that waits for its job costs as much as one at rest; what a run may use comes on top only while it runs. So the
memory of the whole service is bounded by its parts at rest, and the limit of one run for each slot. The parts were
measured on Linux 6.18 with torch 2.13 for the CPU, as private memory, and rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from grader.errors import SandboxUnavailable

_MIB = 1 << 20
PAGES = 384 * _MIB  # the process that serves the pages
GRADER = 384 * _MIB  # a grading process
ZYGOTE = 384 * _MIB  # its zygote, with the children that wait
CHILD = 64 * _MIB  # a child at rest
_MOST_SLOTS = 2  # in one process; Python's part of a grade is a third of it


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """What the service may use, in bytes; `each` is the largest limit that a run may have."""

    memory: int
    each: int

    def slots(self, wanted: int) -> int:
        """Return how many slots there is room for, at most `wanted`.

        Raises:
            SandboxUnavailable: for none.
        """
        found = next((slots for slots in range(wanted, 0, -1) if self.needed(slots) <= self.memory), 0)
        if not found:
            raise SandboxUnavailable(
                f"there is too little memory to grade: {self.memory // _MIB} MiB, where one submission at a time needs "
                f"{self.needed(1) // _MIB} MiB (of them {self.each // _MIB} MiB for the submission). Give the machine "
                "or the container more, or say in ATTENTION_GYM_MEMORY_MIB how much there really is"
            )
        return found

    def processes(self, slots: int) -> int:
        """Return how many grading processes those slots are shared out to: one each, or two in one to save memory."""
        return slots if self.needed(slots, slots) <= self.memory else math.ceil(slots / _MOST_SLOTS)

    def needed(self, slots: int, processes: int = 0) -> int:
        """Return the bytes that the service needs at most with so many slots, in as few processes as may be or more."""
        processes = processes or math.ceil(slots / _MOST_SLOTS)
        return PAGES + processes * (GRADER + ZYGOTE) + slots * (self.each + CHILD)

    def room(self, slots: int) -> int:
        """Return the bytes that a zygote with all its children needs at most, for so many runs at once."""
        return ZYGOTE + slots * (self.each + CHILD)
