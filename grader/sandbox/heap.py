"""Fills the gaps in the heap of the zygote, so that what a child allocates lies side by side at the heap's end.

The C library hands out the gaps between older allocations first. They lie all over the heap, on pages that the child
shares with the zygote, so that nearly each of its first allocations would copy a page.
"""

from __future__ import annotations

import ctypes

_LARGEST, _FINE = 128 << 10, 1 << 10  # bytes; what is larger gets a mapping of its own
_ALIGNMENT, _HEADER = 16, 8  # bytes, of each allocation
_IN_A_ROW = 8  # allocations that lie side by side: no gap of that size is left
_MOST = 100_000  # allocations; a C library that never puts two side by side is left as it is


def fill_gaps() -> None:
    """Allocate, for good, what is free between this process's allocations; large gaps first, then smaller ones."""
    allocate = ctypes.CDLL(None).malloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    left = _MOST
    for size in _sizes():
        in_a_row, expected = 0, None
        while in_a_row < _IN_A_ROW and left > 0:
            left -= 1
            address = allocate(size)
            in_a_row = in_a_row + 1 if address == expected else 0
            expected = (address or 0) + _taken(size)


def _sizes() -> list[int]:
    """Return the bytes to ask for, from the largest: in steps of a half or a third, then by each possible size."""
    coarse = [base * part // 4 for base in (_LARGEST >> step for step in range(8)) for part in (4, 3)]
    return [*(size for size in coarse if size > _FINE), *range(_FINE, 0, -_ALIGNMENT)]


def _taken(size: int) -> int:
    """Return how many bytes an allocation of `size` takes."""
    return -(-(size + _HEADER) // _ALIGNMENT) * _ALIGNMENT
