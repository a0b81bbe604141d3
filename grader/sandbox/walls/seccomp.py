"""The system call filter: a compute-only allow-list (`calls`), assembled for a processor, checked by the kernel."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from grader.errors import SandboxUnavailable
from grader.sandbox.walls import kernel
from grader.sandbox.walls.calls import ABSENT, COMPUTE, Argument, Calls

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_SET_MODE_FILTER, _EVERY_THREAD = 1, 1  # of seccomp(2), which prctl cannot do: SECCOMP_FILTER_FLAG_TSYNC
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: word to accumulator, two jumps, verdict
_ALLOW, _ERROR, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # offsets in the kernel's seccomp_data
_INSTRUCTION = struct.Struct("=HBBI")

_Program = list[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor that we know: its audit number, its system call numbers, where those of its second ABI begin."""

    audit: int
    numbers: Mapping[str, int]
    foreign_from: int | None = None  # x32 on x86_64


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


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def prepare(architecture: Architecture, calls: Calls = COMPUTE) -> bytes:
    """Assemble the filter for `architecture` that lets `calls` through.

    Prepared once by the zygote: loading the bytes in a child then costs a third of a millisecond.
    """
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, architecture.audit),
        _verdict(_KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if architecture.foreign_from is not None:
        program += [(_AT_LEAST, 0, 1, architecture.foreign_from), _verdict(_KILL_PROCESS)]
    judged = {name: _judge(call, calls.waived.get(name, ())) for name, call in calls.table.items()}
    judged |= {name: [_verdict(_ERROR | errno.ENOSYS)] for name in ABSENT}
    for name, judgement in judged.items():
        if name in architecture.numbers:  # while the accumulator holds the number of the call; else jump over it
            program += [(_EQUAL, 0, len(judgement), architecture.numbers[name]), *judgement]
    program.append(_verdict(_ERROR | errno.EPERM))
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in program)


def load(program: bytes) -> None:
    """Put the filter over this thread, for good; whatever is not on the list fails with "not permitted".

    Stops all of files, network, processes, threads, signals, tracing, namespaces, keys, io_uring and performance
    counters, and kills at the first call through a foreign ABI.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    wrapped = _Filter(len(program) // _INSTRUCTION.size, ctypes.addressof(buffer))
    kernel.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(wrapped))


def load_everywhere(program: bytes, architecture: Architecture) -> None:
    """Put the filter over every thread of this process, as `load` does over one.

    Raises:
        OSError: a thread has a filter of its own, or the kernel refused.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    wrapped = _Filter(len(program) // _INSTRUCTION.size, ctypes.addressof(buffer))
    place = ctypes.c_void_p(ctypes.addressof(wrapped))
    if thread := kernel.syscall(architecture.numbers["seccomp"], _SET_MODE_FILTER, _EVERY_THREAD, place):
        raise OSError(f"thread {thread} did not take the filter")


def _judge(arguments: tuple[Argument, ...], waived: tuple[int, ...]) -> _Program:
    """Allow a call on a waived descriptor, and where every argument has one of its values; else refuse it."""
    program: _Program = []
    if waived:
        program.append((_LOAD, 0, 0, _ARGUMENTS_AT))  # the low half is all that a descriptor has
        for descriptor in waived:
            program += [(_EQUAL, 0, 1, descriptor), _verdict(_ALLOW)]
    for index, argument in enumerate(arguments):
        if argument.values:
            low = _ARGUMENTS_AT + 8 * index
            program += [*_expect(low + 4, (0,)), *_expect(low, argument.values)]
    return [*program, _verdict(_ALLOW)]


def _expect(offset: int, values: tuple[int, ...]) -> _Program:
    """Go on where the 32-bit word at `offset` is one of `values`, else refuse."""
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, offset), *tests, _verdict(_ERROR | errno.EPERM)]


def _verdict(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)
