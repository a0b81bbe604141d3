"""The numbers of system calls on the processors that we know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.errors import SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor: its audit number, its system call numbers, and the mark of its second ABI, if it has one."""

    audit: int
    numbers: Mapping[str, int]
    foreign_from: int | None = None  # numbers from here on belong to another ABI (x32)


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
