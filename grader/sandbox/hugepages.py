"""Folds memory into huge pages, so that a fork copies a hundred entries of the page table and not fifty thousand.

Folding all of a warm zygote takes half a second, and what it saves in each run is most of the fork and of the child's
end. So it is done piece by piece, while there is nothing else to do.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

from grader.sandbox.lockdown import kernel

_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1; works whatever the machine's own rule for huge pages is
_SIZE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")


def size() -> int:
    """Return the bytes of a huge page, 0 where the kernel has none."""
    return int(_SIZE.read_text()) if _SIZE.exists() else 0


class MemoryRange(NamedTuple):
    """A stretch of memory that could be one huge page, in bytes."""

    address: int
    length: int


def pieces() -> list[MemoryRange]:
    """Return where this process's own writable memory could be huge pages; nothing is read after that."""
    huge = size()
    found: list[MemoryRange] = []
    for line in Path("/proc/self/maps").read_text().splitlines() if huge else ():
        ends, rights, _, _, _, *name = line.split()
        if rights == "rw-p" and name in ([], ["[heap]"]):
            first, last = (int(end, 16) for end in ends.split("-"))
            found += [MemoryRange(start, huge) for start in range(-(-first // huge) * huge, last - huge + 1, huge)]
    return found


def fold(piece: MemoryRange) -> None:
    """Make this piece one huge page, if the kernel can."""
    with contextlib.suppress(OSError):  # an older kernel, no memory in one piece, nothing in use: it stays as it is
        kernel.madvise(piece.address, piece.length, _COLLAPSE)
