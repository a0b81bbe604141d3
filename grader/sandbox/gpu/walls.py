"""The walls around a worker, in the order in which they can go up around a driver."""

from __future__ import annotations

import math
import os
import resource

from grader.sandbox.lockdown import driver, kernel, landlock, privileges, seccomp, syscalls

_PR_SET_DUMPABLE = 4
_EVERY_THREAD_SINCE, _EVERY_THREAD = 8, 1 << 3  # LANDLOCK_RESTRICT_SELF_TSYNC
_RESTRICT_SELF = 446
_BACKSTOP_SECONDS = 600  # of processor time; the runner stops a job much earlier


def give_up_power(guardian: int) -> None:
    """Give up user 0, capabilities and new privileges, while there is one thread and no driver yet.

    A driver asks what its caller may do when it is opened, and remembers.
    """
    privileges.become_nobody()
    privileges.drop_capabilities()
    privileges.forbid_new_privileges()
    privileges.die_with(guardian)  # a change of user clears it
    kernel.prctl(_PR_SET_DUMPABLE, 1)  # as well: without it /proc/self is root's, and the driver writes there


def close_in(devices: tuple[int, ...], files: int) -> None:
    """Put up the last walls, over every thread as far as the kernel can.

    Landlock before version 8 holds the calling thread only; the filter holds them all.

    Args:
        devices: the driver's open files, on which any request stays possible.
        files: all numbers of open files are below.
    """
    architecture = syscalls.architecture(os.uname().machine)
    program = seccomp.prepare(architecture, driver.beside_a_driver(devices))
    ruleset, everywhere = landlock.prepare(), landlock.version() >= _EVERY_THREAD_SINCE
    _limit(files)
    privileges.become_undumpable()
    if ruleset is not None:
        kernel.syscall(_RESTRICT_SELF, ruleset, _EVERY_THREAD if everywhere else 0)
        os.close(ruleset)
    seccomp.load_everywhere(program, architecture)


def _limit(files: int) -> None:
    """Set the limits that a driver can live with.

    Not the address space: CUDA reserves terabytes of it. The runner watches what is really used.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    values = {
        resource.RLIMIT_CPU: math.ceil(used.ru_utime + used.ru_stime) + _BACKSTOP_SECONDS,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
    }
    for which, value in values.items():
        resource.setrlimit(which, (value, value))
