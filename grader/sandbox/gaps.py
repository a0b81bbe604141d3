"""Fills the gaps in this process's memory, and blanks what was freed there.

A process that has imported and thrown away much has thousands of free pieces between pieces in use, and the C library
hands those out first. In a fork each lies in a page that is still shared with the zygote, so almost every tensor, which
takes two or three small pieces, would have the kernel copy a page. Here the zygote takes these pieces for good, five
megabytes in all; what is allocated after that comes from one stretch.

What was freed still holds what was read into it, such as the bytecode and the source of what traps replace. So each
piece is overwritten, and so are those that Python keeps for its own small objects.
"""

from __future__ import annotations

import bisect
import ctypes
from pathlib import Path

_STEP = 16  # bytes; the C library, and Python, round sizes up to a multiple of this
_OVERHEAD = 8  # bytes of a piece that the C library keeps for itself
_SMALL = range(1024, _STEP, -_STEP)
# From 128 KiB on, the C library asks the kernel for each piece.
_LARGE = [size for step in range(7) for size in ((96 << 10) >> step, (64 << 10) >> step)]
_IN_A_ROW = 16  # so many pieces side by side do not lie in gaps
_MOST = 20_000  # pieces of one size; a C library that hands out memory otherwise ends here
_EMPTY = bytes.__basicsize__  # bytes of a `bytes` that holds nothing
# Sizes of what Python allocates by itself, in pools of 16 KiB with a head of 48 bytes. The first one
# fills a pool but for 16 bytes; pieces of 512 bytes would leave the last 464 of each free pool as they were.
_PYTHONS = (480, *range(512, _EMPTY, -_STEP))
_AT_ONCE = 1 << 8


def fill() -> None:
    """Take the free pieces of each size, the largest first, until new ones lie side by side."""
    library = ctypes.CDLL(None)
    allocate = library.malloc
    allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
    for size in (*_LARGE, *_SMALL):
        before = row = 0
        for _ in range(_MOST):
            address = allocate(size - _OVERHEAD) or 0
            ctypes.memset(address, 0, size - _OVERHEAD)
            row = row + 1 if abs(address - before) == size else 0
            if row == _IN_A_ROW:
                break
            before = address
    library.malloc_trim(0)  # the kernel hands out what lies behind the last piece as zeros, if it is used again


def blank_freed() -> None:
    """Overwrite the free pieces among Python's own small objects; they are free again afterwards, in the same order."""
    before = _mapped()
    taken: list[bytes] = []
    for size in _PYTHONS:
        while not taken or len(taken[-1]) != size - _EMPTY or _lies_in(before, id(taken[-1])):
            taken += [bytes(size - _EMPTY) for _ in range(_AT_ONCE)]  # Python maps more memory when none is free


def _mapped() -> list[tuple[int, int]]:
    """Return the beginning and the end of each piece of this process's memory, in order."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ends = [line.partition(" ")[0].split("-") for line in lines]
    return [(int(first, 16), int(last, 16)) for first, last in ends]


def _lies_in(pieces: list[tuple[int, int]], address: int) -> bool:
    place = bisect.bisect(pieces, (address, address)) - 1
    return place >= 0 and address < pieces[place][1]
