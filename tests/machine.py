"""What tests and benchmarks ask of the machine: a free port, a small disk, and the kernel's facts of a process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.sandbox.walls import kernel

DISK_BYTES = 256 << 20
STATE, MINOR_FAULTS, USER_TICKS, SYSTEM_TICKS = 0, 7, 11, 12  # places in `stat_of`


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def stat_of(pid: int | str) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the state on; none for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody has waited for does not."""
    fields = stat_of(pid)
    return bool(fields) and fields[STATE] not in "ZX"


class Disk:
    """A small disk that can be filled to its last byte."""

    def __init__(self, folder: Path) -> None:
        """Find it at a folder."""
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no room."""
        with self._ballast.open("wb", buffering=0) as ballast:
            for piece in (1 << 20, 1 << 12):  # the server takes some of it meanwhile
                with suppress(OSError):
                    while ballast.write(bytes(piece)) == piece:
                        pass

    def clear(self) -> None:
        """Give the room back."""
        self._ballast.unlink()


@contextmanager
def small_disk() -> Iterator[Disk | None]:
    """Give a small disk, None where this system grants none."""
    with TemporaryDirectory(prefix="disk-") as folder:  # not below the folder of the tests, which nobody else may enter
        try:
            kernel.mount("tmpfs", folder, kind="tmpfs", flags=0, options=f"size={DISK_BYTES}")
        except OSError:
            yield None
            return
        try:
            yield Disk(Path(folder))
        finally:
            kernel.detach(folder)
