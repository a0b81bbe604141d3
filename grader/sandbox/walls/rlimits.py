"""Per-process limits: exact, because the child can make neither a process nor a thread to share them with."""

from __future__ import annotations

import contextlib
import math
import resource
from dataclasses import dataclass

from grader.sandbox.walls import kernel

_DESCRIPTORS = 24
_STACK = 8 << 20  # what Linux gives by default; the service may have more, or no limit
_PR_SET_THP_DISABLE = 41

# What nobody needs: processes, threads, files that grow, core dumps, locked memory, messages, priority.
NOTHING = dict.fromkeys(
    (
        *(resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK),
        *(resource.RLIMIT_MSGQUEUE, resource.RLIMIT_NICE, resource.RLIMIT_RTPRIO),
    ),
    0,
)
_OPTIONS = {  # of the shell's command, and what they count in
    resource.RLIMIT_CPU: ("-t", 1),
    resource.RLIMIT_AS: ("-v", 1024),
    resource.RLIMIT_DATA: ("-d", 1024),
    resource.RLIMIT_NOFILE: ("-n", 1),
}


class LimitTooLow(Exception):
    """A limit of a run is above what this process may have, so that a run would get less than it is promised."""

    def __init__(self, which: int, wanted: int) -> None:
        option, unit = _OPTIONS.get(which, (f"(limit {which})", 1))
        hard = resource.getrlimit(which)[1] // unit
        super().__init__(f"`ulimit {option}` is {hard} here, and a run here needs {-(-wanted // unit)}: raise it")


@dataclass(frozen=True, slots=True)
class Mapped:
    """The memory that a process has mapped, in bytes: all of it, and the part that is private and writable."""

    address: int
    data: int


def set_limits(*, cpu_seconds: float, mapped: Mapped, memory_bytes: int) -> None:
    """Set every limit, soft equal to hard, so that nothing can be raised again.

    Stops endless loops (processor time), memory hogs (data, address space, stack), fork and thread bombs (processes),
    full disks (file size), descriptor floods, core dumps, locked memory and queued messages. The processor limit is
    hard from the first second because process 1 of a namespace ignores the warning signal.

    The address space alone does not limit memory: libraries take hundreds of MiB of it that cost nothing, until their
    mappings are removed to make room, or their pages are made writable and copied. The limit on data counts what can
    hold memory of one's own, because the filter allows no shared mapping and none that loses its right to write.

    Args:
        cpu_seconds: processor time; the kernel counts whole seconds, so it is rounded up.
        mapped: what the process has already.
        memory_bytes: over that.

    Raises:
        LimitTooLow: the service, or the shell in which it was started, may use less itself, which nobody can raise.
    """
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    values = {
        resource.RLIMIT_CPU: max(1, math.ceil(cpu_seconds)),
        # Twice what is mapped: where addresses are short, the kernel leaves out the limit on data when pages become
        # writable (mprotect_fixup), so the room for the largest such change must never run out.
        resource.RLIMIT_AS: 2 * mapped.address + memory_bytes + _STACK,
        resource.RLIMIT_DATA: mapped.data + memory_bytes,
        resource.RLIMIT_STACK: _STACK if hard == resource.RLIM_INFINITY else min(_STACK, hard),
        resource.RLIMIT_NOFILE: _DESCRIPTORS,
        **NOTHING,
    }
    for which, value in values.items():
        try:
            resource.setrlimit(which, (value, value))
        except ValueError as error:
            raise LimitTooLow(which, value) from error


def refuse_huge_pages() -> None:
    """Have the kernel give this process small pages only.

    Stops holding memory that no limit counts: of a huge page whose mapping is removed but for one small page, the
    kernel keeps all. Those that were there before the fork stay as they are.
    """
    with contextlib.suppress(OSError):  # a kernel without huge pages
        kernel.prctl(_PR_SET_THP_DISABLE, 1)


def measure() -> Mapped:
    """Return what this process has mapped."""
    with open("/proc/self/status", "rb", buffering=0) as file:
        lines = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    address, data = (int(lines[name].split()[0]) * 1024 for name in (b"VmSize", b"VmData"))
    return Mapped(address, data)


def largest_resident() -> int:
    """Return the largest resident set that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def processor_time() -> float:
    """Return the processor time that this process has used, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
