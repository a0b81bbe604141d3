"""Gaps: after they are filled, what is allocated lies together; and nothing is left of what was freed."""

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

# Lines of all lengths are made and freed, as of the source of a module; then they are looked for.
_LINES = """
import sys
from grader.sandbox import gaps
mark = "".join(reversed("-kram"))
lines = [(mark + str(number % 9)) * (5 + number % 40) for number in range(100_000)]
del lines
if sys.argv[1] == "blanked":
    gaps.blank_freed()
left = 0
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        if " rw" in line and "[v" not in line:
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            memory.seek(first)
            left += memory.read(last - first).count(f"{mark}1".encode() * 5)
print(left)
"""


def _left(memory: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _LINES, memory], capture_output=True, text=True, check=True, timeout=60
    )
    return int(done.stdout)


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


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from a file of Linux")
def test_nothing_is_left_of_what_python_has_freed() -> None:
    """Neither in a piece that was freed, nor behind the last piece of a pool."""
    assert _left("as it is") > 20
    assert _left("blanked") == 0
