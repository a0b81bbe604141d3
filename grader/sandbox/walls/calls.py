"""The system calls that a submission may make: each call, each of its arguments, what it may be, and why.

`python -m benchmarks calls` records what honest code does, over every example, and compares it with this list. A call
or a value that honest code does not use is not here, unless the reason says where it is needed. The order is that of
the frequency, since the kernel goes through the list at every call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.sandbox.walls.descriptors import JOB, LINE, RESULT


@dataclass(frozen=True, slots=True)
class Argument:
    """What one argument of a call may be.

    Attributes:
        name: as the manual page calls it.
        why: what the values are for; where any value is allowed, why none does harm.
        values: the allowed ones, compared in all 64 bits; none means any.
    """

    name: str
    why: str
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    """What a filter lets through.

    Attributes:
        table: the arguments of each allowed call, in their order; one that is missing at the end may be anything.
        waived: descriptors on which a call is allowed whatever its other arguments are.
    """

    table: Mapping[str, tuple[Argument, ...]]
    waived: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


_BUFFER = Argument("buf", "memory of this process; a wrong address is an error and nothing else")
_COUNT = Argument("count", "bytes of this process's memory, at most what is mapped")
_START = Argument("addr", "memory of this process")
_LENGTH = Argument("length", "bytes of address space; the limits count them")

# Nothing here makes a descriptor. The numbers 0 to 5 are all there is, and a closed one stays closed.
_TABLE: Mapping[str, tuple[Argument, ...]] = {
    "write": (
        Argument("fd", "prints, the result, and the line to the runner until the job begins", (1, 2, RESULT, LINE)),
        _BUFFER,
        _COUNT,
    ),
    "read": (
        Argument("fd", "the empty input, the job, and the line to the runner until the job begins", (0, JOB, LINE)),
        _BUFFER,
        _COUNT,
    ),
    "brk": (Argument("addr", "the end of the heap; RLIMIT_DATA counts it"),),
    "mmap": (
        Argument("addr", "the kernel's choice: mappings far apart would need page tables that no limit counts", (0,)),
        _LENGTH,
        Argument("prot", "read and write: RLIMIT_DATA counts writable mappings only", (3,)),
        Argument("flags", "private and anonymous: shared pages stay when their mapping goes", (0x22,)),
        Argument("fd", "not looked at, since the mapping is anonymous; C libraries pass -1 in 32 or 64 bits"),
        Argument("offset", "an anonymous mapping has none", (0,)),
    ),
    "munmap": (_START, _LENGTH),
    # oneDNN writes code at run time. Without the right to write, pages would no longer count in RLIMIT_DATA.
    "mprotect": (_START, _LENGTH, Argument("prot", "read, write and execute: generated code", (7,))),
    # Waiting with a timeout as locks do (Python: a realtime or a monotonic clock), and waking.
    "futex": (
        Argument("uaddr", "memory of this process, which nobody else can name in a private operation"),
        Argument("op", "WAIT, WAKE, WAIT_BITSET, the last by either clock; all private", (0x80, 0x81, 0x89, 0x189)),
        Argument("val", "a number to compare, or how many threads to wake; there is one"),
        Argument("timeout", "a time in this process's memory; the runner's clock ends longer waits"),
        Argument("uaddr2", "not looked at by these operations"),
        Argument("val3", "which waiters of this process; there are none"),
    ),
    "clock_gettime": (
        Argument(
            "clockid",
            "time and monotonic time, which the vDSO answers without a call on most machines; own processor time",
            (0, 1, 2, 3),
        ),
        _BUFFER,
    ),
    "getrandom": (_BUFFER, _COUNT, Argument("flags", "none; NONBLOCK, by which Python seeds `random`", (0, 1))),
    "getrusage": (Argument("who", "this process", (0,)), _BUFFER),
    # time.sleep; restart_syscall goes on with a wait that was stopped, and has no arguments.
    "clock_nanosleep": (
        Argument("clockid", "monotonic, as Python sleeps", (1,)),
        Argument("flags", "until a point in time", (1,)),
        Argument("request", "a time in this process's memory; the runner's clock ends longer sleeps"),
        Argument("remain", "not written for a point in time"),
    ),
    "restart_syscall": (),
    "getpid": (),  # the module logging puts it into every record
    "close": (Argument("fd", "closes a descriptor of this process only; nothing can open it again"),),
    "exit_group": (Argument("status", "the exit code of this process, which the runner takes for nothing more"),),
}

COMPUTE = Calls(_TABLE)

# A C library takes "no such call" for "use the older one", which the filter then judges by its arguments.
ABSENT = ("clone3",)

# Beside a GPU's driver the list is wider. A driver has threads, and maps and asks its devices; which arguments it uses
# was not recorded, since no GPU was there to record it on. So calls that a submission alone does not have stay open,
# and shared mappings and futexes with them. What a worker is worth is a promise of its own, in docs/gpu.md.
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

_BESIDE_A_DRIVER: Mapping[str, tuple[Argument, ...]] = {
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
    table = {**dict.fromkeys(_FREE, ()), **_BESIDE_A_DRIVER}
    return Calls(table, waived={"ioctl": descriptors} if descriptors else {})
