"""The system calls that attention code needs, by name, and their numbers on the processors that we know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.errors import SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor: its audit number, its system call numbers, and the mark of its second ABI, if it has one."""

    audit: int
    numbers: Mapping[str, int]
    foreign_from: int | None = None  # numbers from here on belong to another ABI (x32)


@dataclass(frozen=True, slots=True)
class Argument:
    """A condition on one argument of a call: it must be one of `values`; `wide` compares all 64 bits."""

    index: int
    values: tuple[int, ...]
    wide: bool = False


# Files that are open already, memory, time, the process's own signals and figures. No open, stat, socket, clone,
# exec, kill or ptrace.
FREE = (
    "read", "write", "readv", "writev", "close", "fstat", "lseek", "dup",
    "mmap", "munmap", "mprotect", "mremap", "brk",
    "sched_yield", "nanosleep", "gettimeofday", "getcpu",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "getpid", "gettid", "getrusage", "times", "getrandom", "poll", "ppoll", "exit", "exit_group",
)  # fmt: skip

_OWN_CLOCKS = (Argument(0, (0, 1, 2, 3, 4, 5, 6, 7, 11)),)

CHECKED: Mapping[str, tuple[Argument, ...]] = {
    # Of oneself only: the kernel answers about every process, which lists them all to whoever tries the numbers.
    "sched_getaffinity": (Argument(0, (0,)),),
    # The machine's clocks and its own; a negative one is another process's, to the nanosecond.
    "clock_gettime": _OWN_CLOCKS,
    "clock_getres": _OWN_CLOCKS,
    "clock_nanosleep": _OWN_CLOCKS,
    # Waiting and waking, private (+128) or not, by either clock (+256). A lock with priority inheritance names a
    # process, and the kernel says whether it is there.
    "futex": (Argument(1, (0, 1, 3, 4, 5, 9, 10, 128, 129, 131, 132, 133, 137, 138, 265, 393)),),
    # Not MERGEABLE: shared pages tell by timing what other processes hold. Not COLLAPSE, POPULATE, HWPOISON either.
    "madvise": (Argument(2, (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19)),),
    # TCGETS, FIONREAD, FIONCLEX, FIOCLEX: asking. TIOCSTI would type into a terminal.
    "ioctl": (Argument(1, (0x5401, 0x541B, 0x5450, 0x5451)),),
    # F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. F_SETOWN with O_ASYNC sends a signal to whom it likes.
    "fcntl": (Argument(1, (1, 2, 3, 1030)),),
    # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names only. PR_SET_DUMPABLE would reopen the process's memory.
    "prctl": (Argument(0, (15, 16, 0x53564D41)),),
    # Reading its own limits: process 0 is oneself, and a null new limit changes nothing.
    "prlimit64": (Argument(0, (0,)), Argument(2, (0,), wide=True)),
}

# A C library takes "no such call" for "use the older one", which the filter then judges by its arguments.
ABSENT = ("clone3",)


@dataclass(frozen=True, slots=True)
class Calls:
    """What a filter lets through.

    Attributes:
        free: calls by name.
        checked: calls whose arguments must fulfil every condition.
        waived: a condition under which a checked call is let through without the others.
    """

    free: tuple[str, ...]
    checked: Mapping[str, tuple[Argument, ...]]
    waived: Mapping[str, Argument] = field(default_factory=dict)


COMPUTE = Calls(FREE, CHECKED)


def beside_a_driver(descriptors: tuple[int, ...]) -> Calls:
    """Return what computing needs, and every ioctl on a driver's `descriptors`.

    Nothing on this list hands out a descriptor: a closed one's number cannot come to stand for another file.
    """
    return Calls(
        free=tuple(name for name in FREE if name != "dup"),
        checked={**CHECKED, "fcntl": (Argument(1, (1, 2, 3)),)},  # without F_DUPFD_CLOEXEC
        waived={"ioctl": Argument(0, descriptors)} if descriptors else {},
    )


_X86_64 = Architecture(
    audit=0xC000003E,
    foreign_from=0x40000000,
    numbers={
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10,
        "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16,
        "readv": 19, "writev": 20, "sched_yield": 24, "mremap": 25, "madvise": 28, "dup": 32, "nanosleep": 35,
        "getpid": 39, "exit": 60, "fcntl": 72, "gettimeofday": 96, "getrusage": 98, "times": 100,
        "sigaltstack": 131, "prctl": 157, "gettid": 186, "futex": 202, "sched_getaffinity": 204,
        "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
        "exit_group": 231, "prlimit64": 302, "getcpu": 309, "seccomp": 317, "getrandom": 318, "clone3": 435,
    },
)  # fmt: skip

_AARCH64 = Architecture(
    audit=0xC00000B7,
    numbers={
        "dup": 23, "fcntl": 25, "ioctl": 29, "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65,
        "writev": 66, "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98, "nanosleep": 101,
        "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123,
        "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153, "getrusage": 165, "prctl": 167, "getcpu": 168,
        "gettimeofday": 169, "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222,
        "mprotect": 226, "madvise": 233, "prlimit64": 261, "seccomp": 277, "getrandom": 278, "clone3": 435,
    },
)  # fmt: skip

_KNOWN = {"x86_64": _X86_64, "aarch64": _AARCH64}


def architecture(machine: str) -> Architecture:
    """Return the table for `machine`, as `os.uname()` calls it.

    Raises:
        SandboxUnavailable: we have no table for it.
    """
    if machine not in _KNOWN:
        known = ", ".join(_KNOWN)
        raise SandboxUnavailable(f"the system call filter knows the processors {known}; this one is {machine}")
    return _KNOWN[machine]
