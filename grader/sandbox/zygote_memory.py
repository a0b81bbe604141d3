"""The memory of a zygote before it forks: nothing is left of what was freed, what is new lies together, in huge pages.

What was freed still holds what was read into it, such as the bytecode and the source of what traps replace. And each
free piece lies in a page that a fork shares with the zygote: almost every tensor, which takes two or three small
pieces, would have the kernel copy one.

A fork copies an entry of the page table for each page: of huge pages a hundred, of small ones fifty thousand, which
would be most of the fork and of the child's end. To fold all of a warm zygote takes half a second, so it is done piece
by piece, while there is nothing else to do.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

from grader.sandbox.walls import kernel

_STEP = 16  # bytes; the C library, and Python, round sizes up to a multiple of this
_OVERHEAD = 8  # bytes of a piece that the C library keeps for itself
# The largest first. From 128 KiB on, the C library asks the kernel for each piece.
_SIZES = (
    *(size for step in range(7) for size in ((96 << 10) >> step, (64 << 10) >> step)),
    *range(1024, _STEP, -_STEP),
)
_IN_A_ROW = 16  # so many pieces side by side do not lie in gaps
_MOST = 20_000  # pieces of one size; a C library that hands out memory otherwise ends here
_EMPTY = bytes.__basicsize__  # bytes of a `bytes` that holds nothing
# Sizes of what Python allocates by itself, in pools of 16 KiB with a head of 48 bytes. The first one fills a pool but
# for 16 bytes; pieces of 512 bytes would leave the last 464 of each free pool as they were.
_PYTHONS = (480, *range(512, _EMPTY, -_STEP))
_AT_ONCE = 1 << 8
_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1; works whatever the machine's own rule for huge pages is
_HUGE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")


def take_freed() -> None:
    """Overwrite the C library's free pieces, and keep them for good: 5 MB, until new ones lie side by side."""
    library = ctypes.CDLL(None)
    allocate = library.malloc
    allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
    for size in _SIZES:
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
    mapped = _mapped()
    while (now := _mapped()) != mapped:  # until it holds what was mapped to make it; that would pass for new memory
        mapped = now
    del now
    makers: list[Callable[[], object]] = [partial(bytes, size - _EMPTY) for size in _PYTHONS]
    makers += [partial(int, "1000000000000"), object]  # of 32 and of 16 bytes, which no `bytes` has
    taken: list[object] = []
    for make in makers:
        taken += [make() for _ in range(_AT_ONCE)]
        while _lies_in(mapped, id(taken[-1])):
            taken += [make() for _ in range(_AT_ONCE)]  # Python maps more memory when none is free


def _mapped() -> list[tuple[int, int]]:
    """Return the beginning and the end of each piece of this process's memory, in order."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ends = [line.partition(" ")[0].split("-") for line in lines]
    return [(int(first, 16), int(last, 16)) for first, last in ends]


def _lies_in(pieces: list[tuple[int, int]], address: int) -> bool:
    place = bisect.bisect(pieces, (address, address)) - 1
    return place >= 0 and address < pieces[place][1]


def huge_pieces() -> list[tuple[int, int]]:
    """Return where this process's own writable memory could be huge pages: addresses, and bytes from there on."""
    size = int(_HUGE.read_text()) if _HUGE.exists() else 0  # of a huge page; 0 where the kernel has none
    found: list[tuple[int, int]] = []
    for line in Path("/proc/self/maps").read_text().splitlines() if size else ():
        ends, rights, _, _, _, *name = line.split()
        if rights == "rw-p" and name in ([], ["[heap]"]):
            first, last = (int(end, 16) for end in ends.split("-"))
            found += [(address, size) for address in range(-(-first // size) * size, last - size + 1, size)]
    return found


def fold(address: int, size: int) -> None:
    """Make a piece of memory one huge page, if the kernel can."""
    with contextlib.suppress(OSError):  # an older kernel, no memory in one piece, nothing in use: it stays as it is
        kernel.madvise(address, size, _COLLAPSE)
