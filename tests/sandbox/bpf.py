"""The kernel's side of a system call filter, as far as ours uses it: what a program answers to one call."""

from __future__ import annotations

import struct

ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06

Program = list[tuple[int, int, int, int]]


def disassemble(program: bytes) -> Program:
    """Return the instructions: operation, jump if true, jump if false, constant."""
    return list(struct.iter_unpack("=HBBI", program))


def answer(program: Program, audit: int, number: int, arguments: tuple[int, ...]) -> int:
    """Return the verdict on call `number` of the architecture `audit`, with arguments of 64 bits, missing ones 0."""
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
