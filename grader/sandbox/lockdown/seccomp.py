"""The system call filter: a compute-only allow-list, checked by the kernel at every call."""

from __future__ import annotations

import ctypes
import errno
import struct

from grader.sandbox.lockdown import kernel
from grader.sandbox.lockdown.calls import ABSENT, COMPUTE, Argument, Calls
from grader.sandbox.lockdown.syscalls import Architecture

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_SET_MODE_FILTER, _EVERY_THREAD = 1, 1  # of seccomp(2), which prctl cannot do: SECCOMP_FILTER_FLAG_TSYNC
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: word to accumulator, two jumps, verdict
_ALLOW, _ERROR, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # offsets in the kernel's seccomp_data
_INSTRUCTION = struct.Struct("=HBBI")

_Program = list[tuple[int, int, int, int]]


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def prepare(architecture: Architecture, calls: Calls = COMPUTE) -> bytes:
    """Assemble the filter for `architecture` that lets `calls` through.

    Prepared once by the zygote: loading the bytes in a child then costs a third of a millisecond.
    """
    program = _guard_architecture(architecture)
    for name, arguments in calls.table.items():
        if name in architecture.numbers:
            checks = [*_waive(calls.waived.get(name, ())), *_check(arguments)]
            program += _when(architecture.numbers[name], checks)
    for name in ABSENT:
        program += _when(architecture.numbers[name], [_verdict(_ERROR | errno.ENOSYS)])
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


def _guard_architecture(architecture: Architecture) -> _Program:
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, architecture.audit),
        _verdict(_KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if architecture.foreign_from is not None:
        program += [(_AT_LEAST, 0, 1, architecture.foreign_from), _verdict(_KILL_PROCESS)]
    return program


def _when(number: int, then: _Program) -> _Program:
    """Run `then`, which must end in a verdict, where the accumulator holds `number`."""
    return [(_EQUAL, 0, len(then), number), *then]


def _check(arguments: tuple[Argument, ...]) -> _Program:
    """Allow where every argument has one of its values; the first one that has not refuses on the spot."""
    program: _Program = []
    for index, argument in enumerate(arguments):
        if argument.values:
            low = _ARGUMENTS_AT + 8 * index
            program += [*_one_of(low + 4, (0,)), *_one_of(low, argument.values)]
    return [*program, _verdict(_ALLOW)]


def _waive(descriptors: tuple[int, ...]) -> _Program:
    """Allow on these descriptors, else go on; the low half of the first argument is all that a descriptor has."""
    if not descriptors:
        return []
    program: _Program = [(_LOAD, 0, 0, _ARGUMENTS_AT)]
    for value in descriptors:
        program += [(_EQUAL, 0, 1, value), _verdict(_ALLOW)]
    return program


def _one_of(offset: int, values: tuple[int, ...]) -> _Program:
    """Go on where the 32-bit word at `offset` is one of `values`, else refuse."""
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, offset), *tests, _verdict(_ERROR | errno.EPERM)]


def _verdict(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)
