"""Which processes of a service are alive: each holds a file locked, and the kernel releases the lock when it dies.

Covered: any death of a process on this machine, SIGKILL included. Not covered: other machines.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path


class WorkerLock:
    """The lock of this process, and a way to test those of others."""

    def __init__(self, directory: Path) -> None:
        """Take a lock under a fresh id, and remove the files of dead processes."""
        directory.mkdir(0o700, parents=True, exist_ok=True)
        self._directory = directory
        self.id = secrets.token_hex(8)
        draft = directory / f"{self.id}.draft"
        self._handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        # Named only once it is locked: nobody can find it unlocked and take this process for dead.
        draft.rename(self._file(self.id))
        for file in directory.glob("*.lock"):
            if self.dead(file.stem):
                file.unlink(missing_ok=True)

    def holds(self, worker: str) -> bool:
        """Tell whether claims under that name are of this process; a name may say more behind a `/`."""
        return worker.partition("/")[0] == self.id

    def dead(self, worker: str) -> bool:
        """Tell whether that worker's process has ended."""
        return worker != self.id and not _is_locked(self._file(worker))

    def others(self) -> bool:
        """Tell whether another process is alive."""
        return any(worker != self.id for worker in alive(self._directory))

    def close(self) -> None:
        """Release the lock, if that was not done before."""
        self._file(self.id).unlink(missing_ok=True)
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _file(self, worker: str) -> Path:
        return self._directory / f"{worker}.lock"


def alive(directory: Path) -> list[str]:
    """Return the ids of the processes that are alive; nothing is made or removed."""
    return sorted(file.stem for file in directory.glob("*.lock") if _is_locked(file))


def _is_locked(file: Path) -> bool:
    try:
        handle = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)
