"""A worker's own world, where the system grants one: processes, network, messages and, in the end, no files.

A driver wants files and /proc while it starts, so the files go last, and the guardian takes them away: it shares the
worker's mounts, and has kept the power that the worker has given up.
"""

from __future__ import annotations

import os

from grader.sandbox.lockdown import kernel, namespaces, root

_NOTHING_SPECIAL = 0b1110


def granted() -> bool:
    """Try it all in throw-away processes; return whether it worked."""
    trial = os.fork()
    if trial:
        return os.waitpid(trial, 0)[1] == 0
    code = 1
    try:
        part()
        inner = os.fork()
        if not inner:
            show_own_processes()
            os._exit(0 if os.readlink("/proc/self") == "1" else 1)
        code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        take_the_files()
        code = code or len(os.listdir("/"))
    finally:
        os._exit(code)


def part() -> None:
    """Move this process, and for process ids its next child, into a world of its own.

    Raises:
        OSError: the system does not let us.
    """
    namespaces.separate()
    root.part_from_mounts()


def show_own_processes() -> None:
    """Let /proc show this world instead of the machine's.

    A CUDA driver writes its threads' names to /proc/<pid>/task/<tid>/comm, with the numbers of its own world, and does
    not start where that is somebody else's.
    """
    kernel.mount("proc", "/proc", kind="proc", flags=_NOTHING_SPECIAL)


def take_the_files() -> None:
    """Leave every process of this world an empty, read-only directory for its root.

    Stops every path, in every thread, also in those that a driver started before the other walls were up.
    """
    root.empty_the_root()
