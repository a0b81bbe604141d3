"""The system calls of a worker beside a GPU's driver: wider than those of a submission alone.

A driver has threads, and maps and asks its devices; which arguments it uses was not recorded, since no GPU was there to
record it on. So calls that a submission alone does not have stay open here, and shared mappings and futexes with them.
What a worker is worth is a promise of its own, in docs/gpu.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.sandbox.lockdown.calls import Argument, Calls

_FREE = (
    "read", "write", "readv", "writev", "close", "fstat", "lseek",
    "mmap", "munmap", "mprotect", "mremap", "brk",
    "sched_yield", "nanosleep", "gettimeofday", "getcpu",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "getpid", "gettid", "getrusage", "times", "getrandom", "poll", "ppoll", "exit", "exit_group",
)  # fmt: skip

_ANY = Argument("any", "what a driver uses is not known")
_CLOCK = Argument("clockid", "machine's and own; a negative one is another process's", (0, 1, 2, 3, 4, 5, 6, 7, 11))
_OPERATIONS = (0, 1, 3, 4, 5, 9, 10, 128, 129, 131, 132, 133, 137, 138, 265, 393)
_ADVICE = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19)

_CHECKED: Mapping[str, tuple[Argument, ...]] = {
    "futex": (_ANY, Argument("op", "no priority inheritance: it tells whether a process is there", _OPERATIONS)),
    "clock_gettime": (_CLOCK,),
    "clock_getres": (_CLOCK,),
    "clock_nanosleep": (_CLOCK,),
    "sched_getaffinity": (Argument("pid", "itself: others are listed by trying the numbers", (0,)),),
    "madvise": (_ANY, _ANY, Argument("advice", "not MERGEABLE, which tells by timing what others hold", _ADVICE)),
    "ioctl": (_ANY, Argument("request", "TCGETS, FIONREAD, FIONCLEX, FIOCLEX", (0x5401, 0x541B, 0x5450, 0x5451))),
    "fcntl": (_ANY, Argument("cmd", "F_GETFD, F_SETFD, F_GETFL; F_SETOWN would send signals", (1, 2, 3))),
    "prctl": (Argument("option", "PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names only", (15, 16, 0x53564D41)),),
    "prlimit64": (
        Argument("pid", "itself", (0,)),
        _ANY,
        Argument("new_limit", "none: reading only", (0,)),
    ),
}  # fmt: skip


def beside_a_driver(descriptors: tuple[int, ...]) -> Calls:
    """Return what computing beside a driver needs, and every ioctl on the driver's `descriptors`.

    Nothing on this list hands out a descriptor: a closed one's number cannot come to stand for another file.
    """
    table = {**dict.fromkeys(_FREE, ()), **_CHECKED}
    return Calls(table, waived={"ioctl": descriptors} if descriptors else {})
