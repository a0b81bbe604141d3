"""Namespaces: an empty network for the zygote, and for every child a world of processes with nobody else in it.

The files have a namespace too; `root` makes it, later, because the zygote still reads some.

With root's power, or as a plain user through a user namespace. Containers usually forbid both; the other walls stand
without.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import NoReturn

from grader.sandbox.lockdown import kernel, privileges

_USER, PROCESSES, NETWORK, IPC, HOST_NAME = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
_CONTROL_GROUPS = 0x02000000
NAME = "box"


def enter() -> bool:
    """Move the calling process into fresh namespaces; return whether the kernel granted it.

    On success the caller returns as process 1 of its own world, a child of what it was; the process it was waits for
    it and ends with it. A kernel kills everything in such a world when its process 1 dies: no child outlives the
    zygote. Must be called with one thread.
    """
    if not _granted():
        return False
    separate()
    first = os.fork()
    if first:
        _wait_and_end_like(first)
    privileges.die_with(0)
    return True


def _granted() -> bool:
    """Try it all in a throw-away process: some systems grant the first step and refuse the next, with no way back."""
    trial = os.fork()
    if trial:
        return os.waitpid(trial, 0)[1] == 0
    code = 1
    try:
        separate()
        inner = os.fork()
        if inner:
            code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        else:
            alone = fork_alone(own_processes())
            code = os.waitstatus_to_exitcode(os.waitpid(alone, 0)[1]) if alone else 0
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
    if user != 0:
        _map_itself(user, group)
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


def _come_back(home: int) -> None:
    """Return to `home`; a zygote that cannot would put nobody where they belong any more, and is better dead."""
    try:
        kernel.setns(home, PROCESSES)
    except OSError as error:
        os.write(2, f"the zygote does not come back to its own processes: {error}\n".encode())
        os._exit(1)


def _map_itself(user: int, group: int) -> None:
    """Keep this process's user and group inside its new user namespace; nobody else exists there."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _wait_and_end_like(child: int) -> NoReturn:
    """Wait for `child` and end the same way, without running anything that was set up before the fork."""
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
