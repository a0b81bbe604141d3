"""Gaps: after they are filled, what is allocated lies together."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A hundred free pieces, each in a page of its own; then a hundred of the same size are allocated.
_PROGRAM = """
import ctypes, sys
from grader.sandbox import gaps
library = ctypes.CDLL(None)
library.malloc.argtypes, library.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
library.free.argtypes, library.free.restype = [ctypes.c_void_p], None
pieces = [(library.malloc(200), library.malloc(4000))[0] for _ in range(100)]
for piece in pieces:
    library.free(piece)
if sys.argv[1] == "filled":
    gaps.fill()
print(len({library.malloc(200) >> 12 for _ in range(100)}))
"""


def _pages(memory: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, memory], capture_output=True, text=True, check=True, timeout=60
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries hand out memory otherwise")
def test_what_is_allocated_after_filling_lies_together() -> None:
    """A hundred pieces of 200 bytes need six pages; in the gaps they lie in half a hundred."""
    assert _pages("filled") <= 8
    assert _pages("as it is") > 25
