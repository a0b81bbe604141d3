"""Fills the gaps in the C library's memory, so that what a child allocates lies together in few pages.

A process that has imported and thrown away much has thousands of free pieces between pieces in use, and the C library
hands those out first. In a fork each lies in a page that is still shared with the zygote, so almost every tensor, which
takes two or three small pieces, would have the kernel copy a page. Here the zygote takes these pieces for good, five
megabytes in all; what is allocated after that comes from one stretch.
"""

from __future__ import annotations

import ctypes

_STEP = 16  # bytes; the C library rounds sizes up to a multiple of this
_OVERHEAD = 8  # bytes of a piece that the C library keeps for itself
_SMALL = range(1024, _STEP, -_STEP)
_LARGE = [size for step in range(7) for size in ((128 << 10) >> step, (96 << 10) >> step)]
_IN_A_ROW = 16  # so many pieces side by side do not lie in gaps
_MOST = 20_000  # pieces of one size; a C library that hands out memory otherwise ends here


def fill() -> None:
    """Take the free pieces of each size, the largest first, until new ones lie side by side."""
    allocate = ctypes.CDLL(None).malloc
    allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
    for size in (*_LARGE, *_SMALL):
        before = row = 0
        for _ in range(_MOST):
            address = allocate(size - _OVERHEAD) or 0
            row = row + 1 if abs(address - before) == size else 0
            if row == _IN_A_ROW:
                break
            before = address
