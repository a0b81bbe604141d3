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
    """A lock that many may hold together or one alone; safe to use from several threads.

    There are two files: whoever waits to be alone holds the first one, so that nobody new comes to the second.
    """

    def __init__(self, directory: Path) -> None:
        """Use two files in `directory`, which is there."""
        self._gate, self._room = directory / "gate", directory / "room"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Hold it with others; waits as long as somebody is alone, or waits to be."""
        with _locked(self._gate, fcntl.LOCK_SH):
            room = _lock(self._room, fcntl.LOCK_SH)
        try:
            yield
        finally:
            os.close(room)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold it with nobody else; waits until all others have let go."""
        with _locked(self._gate, fcntl.LOCK_EX), _locked(self._room, fcntl.LOCK_EX):
            yield


@contextmanager
def _locked(file: Path, kind: int) -> Iterator[None]:
    descriptor = _lock(file, kind)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(file: Path, kind: int) -> int:
    """Open and lock a file; a lock belongs to its opening, so threads exclude each other as processes do."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, kind)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
