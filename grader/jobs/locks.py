"""Locks on files by which the processes of a machine know who is alive, and who may grade at the same time.

The kernel lets go of what a process held when it dies, SIGKILL included. Not covered: other machines.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def machine_in(workers: Path) -> str:
    """Return the id of the machine that has this directory, drawn at the first time."""
    file = workers / "machine"
    if not file.exists():
        workers.mkdir(0o700, parents=True, exist_ok=True)
        draft = workers / f"machine.{secrets.token_hex(4)}"
        draft.write_text(secrets.token_hex(4))
        with suppress(FileExistsError):
            os.link(draft, file)  # whole at once, and the first one stays
        draft.unlink()
    return file.read_text()


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


class RunLock:
    """One holder's share in a lock that many may hold together or one alone; for one thread.

    A job whose process was killed is tried once more with nothing beside it on this machine, so that a second kill can
    be put down to it.

    There are two files: whoever waits to be alone holds the first one, so that nobody new comes to the second. They are
    opened once, so that a process without descriptors left can go on grading.
    """

    def __init__(self, directory: Path) -> None:
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
