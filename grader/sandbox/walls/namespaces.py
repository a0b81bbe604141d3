"""Namespaces: no network and in the end no files for the zygote, for every child a world of processes of its own.

The files have a namespace too, and end as an empty root; later, because the zygote still reads some.

With root's power, or as a plain user through a user namespace. Containers usually forbid both; the other walls stand
without.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable

from grader.sandbox.walls import kernel, privileges

_USER, PROCESSES, NETWORK, IPC, HOST_NAME = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
_CONTROL_GROUPS, _MOUNTS = 0x02000000, 0x00020000
NAME = "box"

_RECURSIVE, _PRIVATE = 0x4000, 1 << 18
_BARREN = 0b1111  # read-only, no set-user-id, no devices, nothing to execute
_PLACE = "/proc"  # any directory would do, since it is only covered; this one is there wherever namespaces are


def enter() -> bool:
    """Move the calling process into fresh namespaces; return whether the kernel granted it.

    On success the caller returns as process 1 of its own world, a child of what it was; the process it was waits for
    it and ends with it. A kernel kills everything in such a world when its process 1 dies: no child outlives the
    zygote. Must be called with one thread.
    """
    if not works(_enter_in_a_trial):
        return False
    separate()
    first = os.fork()
    if first:  # nothing that was set up before the fork may run at the end
        os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) & 0xFF)
    privileges.die_with(0)
    return True


def works(attempt: Callable[[], bool]) -> bool:
    """Return what `attempt` returns in a throw-away process, False where it raises.

    Some systems grant the first step and refuse the next, with no way back.
    """
    trial = os.fork()
    if trial:
        return os.waitpid(trial, 0)[1] == 0
    code = 1
    try:
        code = 0 if attempt() else 1
    finally:
        os._exit(code)


def separate(kinds: int = PROCESSES | NETWORK | IPC | HOST_NAME) -> None:
    """Move this process (for process ids, its next children) into fresh namespaces of these kinds.

    Stops the network, loopback to the pages included (NETWORK), shared memory and queues (IPC), and telling which
    machine this is (HOST_NAME).

    Raises:
        OSError: the system does not let us.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kinds | (_USER if user != 0 else 0))
    if user != 0:  # it stays who it is in its new user namespace; nobody else exists there
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    if kinds & HOST_NAME:
        socket.sethostname(NAME)  # the new one starts with the old one's
    with contextlib.suppress(OSError):  # hides a path that nobody can read any more: nice to have, and no wall
        kernel.unshare(_CONTROL_GROUPS)


def own_processes() -> int:
    """Open this process's own process namespace, to come back to."""
    return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)


def fork_alone(home: int | None) -> int:
    """Fork a child into a process namespace of its own, as its process 1; return as `kernel.fork` does.

    Stops signals, tracing and even the sight of any other process. Coming back to `home` (from `own_processes`; None
    forks plainly) spares the second fork that this usually costs.

    Raises:
        OSError: there can be no child now; the caller is where it was.
    """
    if home is None:
        return kernel.fork()
    kernel.unshare(PROCESSES)
    try:
        child = kernel.fork()
    except OSError:
        _come_back(home)
        raise
    if child:
        _come_back(home)
    return child


def can_leave_files() -> bool:
    """Return whether `leave_files` works: some systems grant a namespace for mounts and refuse the mount in it."""

    def attempt() -> bool:
        leave_files()
        return not os.listdir("/")

    return works(attempt)


def leave_files() -> None:
    """Make one empty, read-only directory all that this process and its children can name, for good.

    Stops every path, and so reading the grades, the reference, Python's own files or /proc, the mere question whether
    a file is there (which Landlock answers), sockets that lie in folders, and writing anything. Whatever this process
    still needs of a file must have been read before.

    Raises:
        OSError: the system does not let us mount.
    """
    part_from_mounts()
    empty_the_root()


def part_from_mounts() -> None:
    """Give this process mounts of its own; what happens to them does not spread outside.

    Raises:
        OSError: the system does not let us.
    """
    kernel.unshare(_MOUNTS)
    kernel.mount("none", "/", flags=_RECURSIVE | _PRIVATE)


def empty_the_root() -> None:
    """Leave everybody who shares this process's mounts, which must be its own, an empty directory for the root.

    Raises:
        OSError: the system does not let us mount.
    """
    kernel.mount("empty", _PLACE, kind="tmpfs", flags=_BARREN, options="size=4k,mode=555")
    os.chdir(_PLACE)
    kernel.pivot_root(".", ".")  # the old root now lies over the new one, and comes off in one piece
    kernel.detach(".")
    os.chdir("/")


def _enter_in_a_trial() -> bool:
    separate()
    child = os.fork() or fork_alone(own_processes())  # the second in the first
    return not child or os.waitpid(child, 0)[1] == 0


def _come_back(home: int) -> None:
    try:
        kernel.setns(home, PROCESSES)
    except OSError as error:  # a zygote that cannot would put nobody where they belong any more, and is better dead
        os.write(2, f"the zygote does not come back to its own processes: {error}\n".encode())
        os._exit(1)
