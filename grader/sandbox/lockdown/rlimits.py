"""Per-process limits: exact, because the child can make neither a process nor a thread to share them with."""

from __future__ import annotations

import math
import resource

_DESCRIPTORS = 24


def set_limits(*, cpu_seconds: float, address_bytes: int) -> None:
    """Set every limit, soft equal to hard, so that nothing can be raised again.

    Stops endless loops (processor time), memory hogs (address space), fork and thread bombs (processes), full disks
    (file size), descriptor floods, core dumps, locked memory and queued messages. The processor limit is hard from
    the first second because process 1 of a namespace ignores the warning signal.

    Args:
        cpu_seconds: processor time; the kernel counts whole seconds, so it is rounded up.
        address_bytes: the whole address space, in bytes, with what the process has already.
    """
    values = {
        resource.RLIMIT_CPU: max(1, math.ceil(cpu_seconds)),
        resource.RLIMIT_AS: address_bytes,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _DESCRIPTORS,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
    }
    for which, value in values.items():
        resource.setrlimit(which, (value, value))


def address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def largest_resident() -> int:
    """Return the largest resident set that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def processor_time() -> float:
    """Return the processor time that this process has used, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
