"""What tests and benchmarks ask of the machine: a free port, and the kernel's facts of a process."""

from __future__ import annotations

import socket
from pathlib import Path

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
