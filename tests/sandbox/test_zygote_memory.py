"""A zygote's memory before it forks: nothing is left of what was freed, what is new lies together, in huge pages."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import zygote_memory

# A hundred free pieces, each in a page of its own; then a hundred of the same size are allocated.
_PAGES = """
import ctypes, sys
from grader.sandbox import zygote_memory
library = ctypes.CDLL(None)
library.malloc.argtypes, library.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
library.free.argtypes, library.free.restype = [ctypes.c_void_p], None
pieces = [(library.malloc(200), library.malloc(4000))[0] for _ in range(100)]
for piece in pieces:
    library.free(piece)
if sys.argv[1] == "after":
    zygote_memory.take_freed()
print(len({library.malloc(200) >> 12 for _ in range(100)}))
"""
# Lines of all lengths are made and freed, as of the source of a module; then they are looked for.
_LINES = """
import sys
from grader.sandbox import zygote_memory
mark = "".join(reversed("-kram"))
lines = [(mark + str(number % 9)) * (5 + number % 40) for number in range(100_000)]
del lines
if sys.argv[1] == "after":
    zygote_memory.blank_freed()
left = 0
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        if " rw" in line and "[v" not in line:
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            memory.seek(first)
            left += memory.read(last - first).count(f"{mark}1".encode() * 5)
print(left)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is a file only on Linux, and shared out as there")
@pytest.mark.parametrize(("program", "most", "least"), [(_PAGES, 8, 25), (_LINES, 0, 20)], ids=["pages", "lines"])
def test_what_was_freed_is_taken_or_blanked(program: str, most: int, least: int) -> None:
    """A hundred pieces of 200 bytes need six pages and lay in half a hundred; no line of freed text is found."""
    after, before = (
        int(subprocess.run([sys.executable, "-c", program, word], capture_output=True, check=True, timeout=60).stdout)
        for word in ("after", "before")
    )
    assert after <= most
    assert before > least


def _in_huge_pages() -> int:
    """Return how many KiB of this process lie in huge pages."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def test_memory_folds_into_huge_pages_without_changing() -> None:
    """Each whole piece of it is found, and the kernel says that it is folded, wherever it can."""
    size = next((size for _, size in zygote_memory.huge_pieces()), 0)
    if not size:
        pytest.skip("this kernel has no huge pages")
    text = bytes(range(256)) * (3 * size // 256)
    memory = mmap.mmap(-1, len(text), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(text)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    inside = [one for one, _ in zygote_memory.huge_pieces() if first <= one <= first + len(text) - size]
    before = _in_huge_pages()
    for address in (*inside, 0):  # where there is no memory, the kernel refuses, and it is nobody's problem
        zygote_memory.fold(address, size)

    assert len(inside) >= 2
    assert {address % size for address in inside} == {0}
    assert bytes(memory) == text
    if _in_huge_pages() == before:
        pytest.skip("this kernel folds nothing on request (before 6.1, or without memory in one piece)")
    assert _in_huge_pages() - before >= 2 * size // 1024 - 1
