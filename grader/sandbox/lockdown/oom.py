"""Which process the kernel ends first when memory runs out: a child, then its zygote, then a grading process.

Stops a submission that exhausts a machine or a container from having the kernel end the process that serves the pages:
without this the kernel takes whoever is largest. A process may make itself more likely to be ended without any
privilege, and what it forks inherits that. A rank is added to the share of the memory that a process has, in tenths of
a percent: a child at 1000 comes before any process that has no rank of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CHILD, ZYGOTE, GRADER = 1000, 700, 300
_FILE = "/proc/self/oom_score_adj"
_COUNTS = "/proc/vmstat"


def stand_at(rank: int) -> None:
    """Take a rank for this process and what it starts; one that is higher already is kept."""
    with suppress(OSError):  # no kernel with ranks, or they are hidden; then there is no order, and nothing breaks
        file = os.open(_FILE, os.O_RDWR)
        try:
            if int(os.pread(file, 16, 0)) < rank:
                os.pwrite(file, str(rank).encode(), 0)
        finally:
            os.close(file)


def kills() -> int | None:
    """Return how many processes the kernel has ended for lack of memory, wherever; None: nobody counts."""
    with suppress(OSError):
        _, _, rest = Path(_COUNTS).read_bytes().partition(b"\noom_kill ")  # to its end: the kernel gives it in pieces
        if rest:
            return int(rest.partition(b"\n")[0])
    return None


class Ranks:
    """Gives children a higher rank than this process has; made while it can still open files."""

    def __init__(self) -> None:
        self._file, self._own = -1, b""
        with suppress(OSError):
            self._file = os.open(_FILE, os.O_RDWR | os.O_CLOEXEC)
            self._own = os.pread(self._file, 16, 0).strip()

    @contextmanager
    def forking(self) -> Iterator[None]:
        """Have a child that is forked in the block, and never leaves it, ended before this process."""
        self._take(str(CHILD).encode())
        try:
            yield
        finally:
            self._take(self._own)  # without a privilege too: it never was lower

    def _take(self, rank: bytes) -> None:
        with suppress(OSError):
            os.pwrite(self._file, rank, 0)
