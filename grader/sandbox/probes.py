"""The doctor's probes, each in a throw-away child: put one wall up, then check that it holds.

Run as a small program of its own by `doctor`, because a fork of a threaded process is unsafe, and without torch.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
from collections.abc import Callable, Mapping

from grader.sandbox.walls import landlock, namespaces, privileges, rlimits, seccomp

_MEBIBYTE = 1 << 20
_BUDGET = 256 * _MEBIBYTE
_SHM_REMOVE, _SHM_STATUS = 0, 2


class DoesNotHold(Exception):
    """A wall went up without complaint, and yet what it should stop was possible."""


def filter_holds() -> None:
    """Under the filter there is no file, no socket and no process, and computing goes on."""
    privileges.forbid_new_privileges()
    seccomp.load(seccomp.prepare(seccomp.architecture(os.uname().machine)))
    _expect_refusal("open a file", lambda: os.close(os.open("/", os.O_RDONLY)))
    _expect_refusal("make a socket", lambda: socket.socket().close())
    _expect_refusal("signal itself", lambda: os.kill(os.getpid(), 0))
    _expect_refusal("fork", _fork)
    bytearray(_MEBIBYTE)


def limits_hold() -> None:
    """Under the limits a large allocation fails, and so does another process, for a plain user."""
    rlimits.set_limits(cpu_seconds=1, mapped=rlimits.measure(), memory_bytes=_BUDGET)
    try:
        bytearray(2 * _BUDGET)
    except MemoryError:
        pass
    else:
        raise DoesNotHold("twice the allowed memory was to be had")
    if os.geteuid() != 0:
        _expect_refusal("fork", _fork)
    _expect_refusal("raise a limit", lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 2)), for_root=False)


def landlock_holds() -> None:
    """Under Landlock no file opens."""
    _landlocked_since(1)
    _expect_refusal("open a directory", lambda: os.close(os.open("/", os.O_RDONLY)))


def landlock_keeps_the_network_out() -> None:
    """Under Landlock no TCP port can be taken."""
    _landlocked_since(landlock.NETWORK_SINCE)
    with socket.socket() as server:
        _expect_refusal("take a port", lambda: server.bind(("127.0.0.1", 0)))


def landlock_keeps_signals_in() -> None:
    """Under Landlock no signal reaches another process."""
    _landlocked_since(landlock.SCOPES_SINCE)
    _expect_refusal("signal its parent", lambda: os.kill(os.getppid(), 0))


def user_changes() -> None:
    """Root becomes nobody for good; anybody else is nobody special already."""
    privileges.become_nobody()
    privileges.drop_capabilities()
    if os.geteuid() == 0:
        raise DoesNotHold("a child would run as root")
    _expect_refusal("become root", lambda: os.setuid(0))


def network_is_empty() -> None:
    """In a network of its own, a process reaches nobody, not even on the same machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        namespaces.separate(namespaces.NETWORK)
        _expect_refusal("reach a program of this machine", lambda: socket.create_connection(address, timeout=1).close())
    if others := [name for _, name in socket.if_nameindex() if name != "lo"]:
        raise DoesNotHold(f"the empty network holds {', '.join(others)}")


def shared_memory_is_own() -> None:
    """A segment of shared memory that was made outside cannot be found."""
    namespaces.separate(namespaces.IPC)  # twice, so that the segment dies with the first, whatever happens
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, resource.getpagesize(), 0o600)
    if segment < 0 or libc.shmctl(segment, _SHM_STATUS, ctypes.create_string_buffer(256)) < 0:
        raise DoesNotHold("this kernel has no shared memory to try it on")
    namespaces.separate(namespaces.IPC)
    if libc.shmctl(segment, _SHM_STATUS, ctypes.create_string_buffer(256)) == 0:
        libc.shmctl(segment, _SHM_REMOVE, None)
        raise DoesNotHold("it could find shared memory of others")


def host_name_is_own() -> None:
    """The name of the machine cannot be told."""
    namespaces.separate(namespaces.HOST_NAME)
    if os.uname().nodename != namespaces.NAME:
        raise DoesNotHold("it could tell which machine this is")


def processes_are_own() -> None:
    """A child in a process namespace of its own sees nobody, and its parent gets back to where it was."""
    namespaces.separate(namespaces.PROCESSES)

    def attempt() -> bool:
        home = namespaces.own_processes()
        return not any(_sees_somebody(home) for _ in range(2))  # the second one shows that the way back works

    if not namespaces.works(attempt):
        raise DoesNotHold("a child can see other processes, or its parent cannot fork another one")


def root_is_empty() -> None:
    """A process that has left the files behind finds none, and can make none."""
    if not namespaces.enter():
        raise DoesNotHold("the system does not grant all the namespaces together")
    namespaces.leave_files()
    if names := os.listdir("/"):
        raise DoesNotHold(f"the empty root holds {', '.join(names)}")
    _expect_refusal("open Python", lambda: os.close(os.open(sys.executable, os.O_RDONLY)))
    _expect_refusal("climb out of the root", lambda: os.stat("/../proc"))
    _expect_refusal("make a file", lambda: os.mkdir("/new"))


PROBES: Mapping[str, Callable[[], None]] = {
    "system call filter": filter_holds,
    "limits": limits_hold,
    "not root": user_changes,
    "landlock": landlock_holds,
    "landlock network": landlock_keeps_the_network_out,
    "landlock signals": landlock_keeps_signals_in,
    "empty network": network_is_empty,
    "own shared memory": shared_memory_is_own,
    "own host name": host_name_is_own,
    "own processes": processes_are_own,
    "empty root": root_is_empty,
}


def probe_all() -> dict[str, str]:
    """Run every probe in a child of its own; return what went wrong with each, nothing where it holds."""
    return {name: _in_a_child(probe) for name, probe in PROBES.items()}


def tell_all() -> None:
    """Print what `probe_all` returns, as one object of JSON."""
    sys.stdout.write(json.dumps(probe_all()))


def _in_a_child(probe: Callable[[], None]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        verdict = "holds"
        try:
            probe()
        except Exception as error:  # noqa: BLE001  # whatever keeps a wall from standing is the finding
            verdict = f"{error}" or type(error).__name__
        os.write(writing, verdict.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        verdict = file.read().decode()
    os.waitpid(child, 0)
    return "" if verdict == "holds" else verdict or "the child died"


def _landlocked_since(version: int) -> None:
    """Put Landlock up, if it is as new as this version of it."""
    ruleset, found = landlock.prepare(), landlock.version()
    if ruleset is None:
        raise DoesNotHold("this kernel has no Landlock")
    if found < version:
        raise DoesNotHold(f"Landlock {found} is older than {version}")
    privileges.forbid_new_privileges()
    landlock.restrict(ruleset)


def _expect_refusal(what: str, attempt: Callable[[], object], *, for_root: bool = True) -> None:
    if os.geteuid() == 0 and not for_root:
        return
    try:
        attempt()
    except (OSError, ValueError):
        return
    raise DoesNotHold(f"it could {what}")


def _sees_somebody(home: int) -> bool:
    child = namespaces.fork_alone(home)
    if child == 0:
        os._exit((os.getpid(), os.getppid()) != (1, 0))
    return os.waitpid(child, 0)[1] != 0


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
    os.wait()
