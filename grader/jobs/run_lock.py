"""Who may grade at the same time: everybody together, or one job alone, over all processes that share a directory.

A job whose process was killed is tried once more with nothing beside it, so that a second kill can be put down to it.
Covered: every grading process of this machine; the kernel lets go of what a process held when it dies. Not covered:
other machines on the same database.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class RunLock:
    """One holder's share in a lock that many may hold together or one alone; for one thread.

    There are two files: whoever waits to be alone holds the first one, so that nobody new comes to the second. They are
    opened once, so that a process without descriptors left can go on grading.
    """

    def __init__(self, directory: Path) -> None:
        """Use two files in `directory`, which is there."""
        self._gate, self._room = (os.open(directory / name, os.O_RDWR | os.O_CREAT, 0o600) for name in ("gate", "room"))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Hold it with others; waits as long as somebody is alone, or waits to be."""
        with _locked(self._gate, fcntl.LOCK_SH):
            fcntl.flock(self._room, fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_UN)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold it with nobody else; waits until all others have let go."""
        with _locked(self._gate, fcntl.LOCK_EX), _locked(self._room, fcntl.LOCK_EX):
            yield

    def close(self) -> None:
        """Let go of the files."""
        os.close(self._gate)
        os.close(self._room)


@contextmanager
def _locked(file: int, kind: int) -> Iterator[None]:
    fcntl.flock(file, kind)  # a lock belongs to its opening, so threads exclude each other as processes do
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
