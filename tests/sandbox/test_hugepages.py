"""Memory folds into huge pages without changing, wherever the kernel can."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import pytest

from grader.sandbox import hugepages


@pytest.fixture
def memory() -> mmap.mmap:
    """Give written memory that holds at least two whole huge pages."""
    if not hugepages.size():
        pytest.skip("this kernel has no huge pages")
    length = 3 * hugepages.size()
    memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(bytes(range(256)) * (length // 256))
    return memory


def _inside(memory: mmap.mmap) -> list[hugepages.MemoryRange]:
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    last = first + len(memory) - hugepages.size()
    return [piece for piece in hugepages.pieces() if first <= piece.address <= last]


def _folded() -> int:
    """Return how many KiB of this process lie in huge pages."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def test_every_whole_piece_of_own_memory_is_found(memory: mmap.mmap) -> None:
    """Each begins where a huge page may begin, and lies in the mapping whole."""
    found = _inside(memory)
    assert len(found) >= 2
    assert {(piece.address % hugepages.size(), piece.length) for piece in found} == {(0, hugepages.size())}


def test_folding_changes_no_byte_and_the_kernel_says_so(memory: mmap.mmap) -> None:
    """What is in the memory stays, and more of it lies in huge pages than before."""
    before = _folded()
    for piece in _inside(memory):
        hugepages.fold(piece)
    assert bytes(memory) == bytes(range(256)) * (len(memory) // 256)
    if _folded() == before:
        pytest.skip("this kernel folds nothing on request (before 6.1, or without memory in one piece)")
    assert _folded() - before >= 2 * hugepages.size() // 1024 - 1


def test_what_cannot_be_folded_stays_as_it_is() -> None:
    """An address without memory is the kernel's to refuse, and nobody else's problem."""
    hugepages.fold(hugepages.MemoryRange(0, hugepages.size()))
