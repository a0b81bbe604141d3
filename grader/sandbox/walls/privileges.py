"""What the child gives up: being root, capabilities, gaining any, being looked into, outliving the zygote, priority."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal

from grader.sandbox.walls import kernel

NOBODY = 65534
_NICENESS = 10
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_OURSELVES = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the layout; made once, since types of arrays are dear
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
_CAPABILITIES = 64


def yield_the_processor() -> None:
    """Run after everything else on the machine.

    Stops a spinner from making the pages slow. Niceness 10 leaves a tenth of a busy core: at 19 or as an idle task an
    honest run starves beside any busy program, and the wall clock would blame the student for it.
    """
    os.nice(_NICENESS)


def become_nobody() -> None:
    """Change to the user `nobody` where the zygote is root.

    Stops everything that a kernel grants to user 0 by number: /proc, ptrace, files of root.
    """
    if os.geteuid() != 0:
        return
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def empty_bounding_set() -> None:
    """Make it impossible to regain a capability by executing a file; done once, by the zygote."""
    with contextlib.suppress(OSError):  # not permitted without capabilities, and the end of the list on purpose
        for capability in range(_CAPABILITIES):
            kernel.prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up every capability, those of our own user namespace too.

    Stops mounting, tracing, raw sockets and changing limits.
    """
    kernel.capset(_OURSELVES, _NO_CAPABILITIES)


def forbid_new_privileges() -> None:
    """Make set-user-id files powerless; the kernel demands it before a filter or Landlock from a plain user."""
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)


def become_undumpable() -> None:
    """Close this process's memory, environment and descriptors to others of the same user.

    Stops ptrace, process_vm_readv, /proc/PID/mem and pidfd_getfd. It takes /proc/self from a plain user too, so it
    must come after the maps of a user namespace were written.
    """
    kernel.prctl(_PR_SET_DUMPABLE, 0)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; end at once where it is dead already.

    Stops children that live on, unwatched, after their zygote. A change of user clears it, so it comes after that.
    """
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() not in (0, parent):  # 0: the parent is outside this process's namespace
        os._exit(1)
