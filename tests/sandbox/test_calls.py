"""The list of allowed calls: every argument by enumeration, against a second list, honest records and the kernel."""

from __future__ import annotations

import errno
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.calls import RECORD
from grader.sandbox.walls import seccomp
from grader.sandbox.walls.calls import ABSENT, COMPUTE

_ROOT = Path(__file__).parents[2]
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_REFUSED, _ABSENT = ERROR | errno.EPERM, ERROR | errno.ENOSYS

# The same list once more, written by hand from the manual and the record: a slip in the product's list, or in what
# makes a program of it, is a difference here. None is any value.
_ALLOWED: dict[str, tuple[set[int] | None, ...]] = {
    "read": ({0, 3, 5}, None, None),
    "write": ({1, 2, 4, 5}, None, None),
    "close": (None,),
    "mmap": ({0}, None, {0b11}, {0x02 | 0x20}, None, {0}),
    "mprotect": (None, None, {0b111}),
    "munmap": (None, None),
    "brk": (None,),
    "getpid": (),
    "futex": (None, {128, 129, 128 + 9, 128 + 256 + 9}, None, None, None, None),
    "getrusage": ({0}, None),
    "restart_syscall": (),
    "clock_gettime": ({0, 1, 2, 3}, None),
    "clock_nanosleep": ({1}, {1}, None, None),
    "exit_group": (None,),
    "getrandom": (None, None, {0, 1}),
}
# Allowed though no example does it: what a machine without a fast clock, a log, a sleep, a seed or a lock needs.
_NOT_SEEN = {
    "futex": {1: {0x80, 0x89, 0x189}},
    "getrandom": {2: {1}},
    "read": {0: {0}},
    "write": {0: {2}},
    "clock_gettime": {0: {0, 1, 2, 3}},
    "clock_nanosleep": {0: {1}, 1: {1}},
    "getpid": {},
    "restart_syscall": {},
}
# Linux (seen on 6.18) lets uretprobe and uprobe past every filter. They answer the kernel's own trampolines only;
# called by anybody else they are refused, or end the caller.
_PAST_EVERY_FILTER = {"x86_64": {335, 336}, "aarch64": set()}


Program = list[tuple[int, int, int, int]]  # operation, jump if true, jump if false, constant


def answer(program: Program, audit: int, number: int, arguments: tuple[int, ...]) -> int:
    """Be the kernel: return the verdict on call `number` of the architecture `audit`, missing arguments being 0."""
    full = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    words = struct.unpack("=16I", struct.pack("=IIQ6Q", number, audit, 0, *full))
    place = accumulator = 0
    while True:
        operation, true, false, constant = program[place]
        place += 1
        if operation == _LOAD:
            accumulator = words[constant // 4]
        elif operation == _EQUAL:
            place += true if accumulator == constant else false
        elif operation == _AT_LEAST:
            place += true if accumulator >= constant else false
        else:
            assert operation == _RETURN, f"the filter uses an operation that is not known here: {operation:#x}"
            return constant


def _program(machine: str) -> tuple[Program, seccomp.Architecture]:
    architecture = seccomp.architecture(machine)
    return list(struct.iter_unpack("=HBBI", seccomp.prepare(architecture))), architecture


def _honest(name: str) -> tuple[int, ...]:
    """Return arguments with which the call is allowed."""
    return tuple(0 if values is None else min(values) for values in _ALLOWED[name])


def _candidates(values: set[int] | None, largest: int) -> Iterator[int]:
    """Yield small numbers, each bit alone, and each allowed value with a bit changed or another high half."""
    yield from range(0 if values is None else largest + 1)
    for bit in range(64):
        yield 1 << bit
        yield (1 << 64) - 1 - (1 << bit)
        for value in values or {0}:
            yield value ^ 1 << bit
    for value in values or {0}:
        yield from (value, value | 0xFFFFFFFF << 32, value + (1 << 32), (1 << 64) - 1 - value)


@pytest.mark.parametrize(("machine", "largest"), [("x86_64", 4096), ("aarch64", 512)])
def test_every_value_of_every_argument_is_judged_as_the_list_says(machine: str, largest: int) -> None:
    """With all other arguments honest, one argument takes every small value and every bit of 64."""
    program, architecture = _program(machine)
    wrong = []
    for name, arguments in _ALLOWED.items():
        honest = (*_honest(name), 0, 0, 0, 0, 0, 0)[:6]
        for place in range(6):
            allowed = arguments[place] if place < len(arguments) else None
            for value in _candidates(allowed, largest):
                tried = (*honest[:place], value, *honest[place + 1 :])
                verdict = answer(program, architecture.audit, architecture.numbers[name], tried)
                if verdict != (ALLOW if allowed is None or value in allowed else _REFUSED):
                    wrong.append((name, place, hex(value), hex(verdict)))
    assert wrong == []


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_other_call_is_refused(machine: str) -> None:
    """All numbers up to 600, the negative ones, and the x32 numbers; another processor's call kills."""
    program, architecture = _program(machine)
    listed = {architecture.numbers[name] for name in _ALLOWED}
    absent = {architecture.numbers[name] for name in ABSENT}
    for number in (*range(600), 0x3FFFFFFF, *range(0xFFFFFF00, 0x100000000)):
        verdict = answer(program, architecture.audit, number, ())
        beyond = architecture.foreign_from is not None and number >= architecture.foreign_from
        expected = KILL if beyond else _ABSENT if number in absent else _REFUSED
        assert verdict == expected or number in listed, number
        if architecture.foreign_from is not None:
            assert answer(program, architecture.audit, architecture.foreign_from + number % 600, ()) == KILL
        assert answer(program, architecture.audit ^ 1, number, ()) == KILL


def test_the_record_of_honest_code_passes() -> None:
    """Every value that some example used is allowed; `python -m benchmarks calls --write` renews the record."""
    program, architecture = _program("x86_64")
    refused = []
    for name, arguments in json.loads(RECORD.read_text(encoding="utf-8")).items():
        for place, values in enumerate(arguments):
            for value in [] if values == "any" else values:
                tried = [*_honest(name), 0, 0, 0, 0, 0, 0][:6]
                tried[place] = value
                if answer(program, architecture.audit, architecture.numbers[name], tuple(tried)) != ALLOW:
                    refused.append((name, place, value))
    assert refused == []


def test_nothing_is_allowed_that_nobody_uses() -> None:
    """Each call and each listed value was seen in an honest run, or is named here as one that other machines need."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    unused = []
    for name, arguments in COMPUTE.table.items():
        if name not in record and name not in _NOT_SEEN:
            unused.append((name, None, None))
        for place, argument in enumerate(arguments):
            seen = set(record[name][place]) if name in record and record[name][place] != "any" else set()
            known = seen | _NOT_SEEN.get(name, {}).get(place, set())
            unused += [(name, argument.name, value) for value in argument.values if value not in known]
    assert unused == []


def test_every_argument_says_why() -> None:
    """An argument without a reason is one that nobody thought about."""
    assert {name: len(arguments) for name, arguments in COMPUTE.table.items()} == {
        name: len(arguments) for name, arguments in _ALLOWED.items()
    }
    assert [name for name, arguments in COMPUTE.table.items() if any(len(a.why) < 10 for a in arguments)] == []


_SAMPLE = """
import ctypes, json, os, sys
from grader.sandbox.walls import privileges, seccomp

samples = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long, *[ctypes.c_ulong] * 6]
privileges.forbid_new_privileges()
seccomp.load(seccomp.prepare(seccomp.architecture(os.uname().machine)))
found = []
for number, arguments in samples:
    ctypes.set_errno(0)
    libc.syscall(number, *arguments)
    found.append(ctypes.get_errno())
os.write(1, json.dumps(found).encode())
os._exit(0)
"""


def _samples(architecture: seccomp.Architecture) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield calls whose effect is nothing: addresses of 0, each listed value, and each with one bit changed."""
    for name, arguments in _ALLOWED.items():
        harmless = [*_honest(name), 0, 0, 0, 0, 0, 0][:6]
        if name in ("exit_group", "close"):  # the end of the process, and of what it says
            continue
        for place, values in enumerate(arguments):
            for value in values or ():
                for changed in (value, *(value ^ 1 << bit for bit in range(64))):
                    yield architecture.numbers[name], (*harmless[:place], changed, *harmless[place + 1 :])
    left_out = {architecture.numbers[name] for name in _ALLOWED} | _PAST_EVERY_FILTER[os.uname().machine]
    yield from ((number, (0,) * 6) for number in range(600) if number not in left_out)


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there is no list for this processor")
def test_the_kernel_judges_as_the_enumeration_did() -> None:
    """A thousand calls behind the real filter: refused are those that the interpreter of the other tests refuses."""
    program, architecture = _program(os.uname().machine)
    samples = list(_samples(architecture))
    done = subprocess.run(
        [sys.executable, "-c", _SAMPLE],
        input=json.dumps(samples),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    known = {errno.EPERM: _REFUSED, errno.ENOSYS: _ABSENT}
    wrong = [
        (number, arguments, os.strerror(seen))
        for (number, arguments), seen in zip(samples, json.loads(done.stdout), strict=True)
        if answer(program, architecture.audit, number, arguments) != known.get(seen, ALLOW)
    ]
    assert wrong == []
