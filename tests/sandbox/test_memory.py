"""What the kernel holds for one run, by its own figures, whatever way a submission takes memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox.runner import Sandbox
from tests.machine import stat_of
from tests.sandbox.errand import HONEST, LIMITS, plan
from tests.sandbox.user_story import innermost

# Ways to hold memory that a limit may miss: each takes what it can, and the ordinary way takes the rest. Unlike the
# attacks in `tests/hostile/resources/` these go on where they are refused, so that what is held can be measured.
_TOOLS = """
import ctypes, struct
M, PAGE, HUGE = 1 << 20, 4096, 2 << 20
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_size_t
libc.mmap.argtypes = [word, word, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes, libc.memset.argtypes = [word, word], [word, ctypes.c_int, word]
libc.mprotect.argtypes = libc.madvise.argtypes = [word, word, ctypes.c_int]
libc.mremap.argtypes = [word, word, word, ctypes.c_int]
for call in (libc.mmap, libc.mremap, libc.sbrk):
    call.restype = word
NOWHERE, PRIVATE, SHARED = (1 << 64) - 1, 0x22, 0x21

def take(size, flags=PRIVATE, place=0):
    "Return where new memory is, all of it written to, or None."
    found = libc.mmap(place, size, 3, flags, -1, 0)
    if found != NOWHERE:
        libc.memset(found, 1, size)
        return found

class Library(ctypes.Structure):
    pass

Library._fields_ = [("base", word), ("name", ctypes.c_char_p), ("_", word), ("next", ctypes.POINTER(Library))]

def segments():
    "Yield name, rights, address and length of what libraries have in memory."
    library = ctypes.cast(libc._handle, ctypes.POINTER(Library))
    while library:
        base, name = library.contents.base, library.contents.name
        library = library.contents.next
        if not name or ctypes.string_at(base, 4) != b"\\x7fELF":
            continue
        offset, count = struct.unpack("32xQ16xH6x", ctypes.string_at(base, 64))
        for number in range(count):
            header = struct.unpack("=IIQQQQQQ", ctypes.string_at(base + offset + 56 * number, 56))
            if header[0] == 1:
                yield name, header[1], base + (header[3] & -PAGE), header[6] & -PAGE

def make_room():
    for name, rights, start, length in list(segments()):
        if b"libtorch_cpu" in name and not rights & 2:
            libc.munmap(start, length)
"""
_REST = """
size = M
while size >= PAGE:
    if take(size) is None:
        size //= 4
libc._exit(0)
"""

_WAYS = {
    "nothing but the ordinary way": "",
    "the heap": "while libc.sbrk(M) != NOWHERE: libc.memset(libc.sbrk(0) - M, 1, M)",
    "shared memory, its mapping shrunk": """
for _ in range(16):
    if (place := take(32 * M, SHARED)) is not None:
        libc.mremap(place, 32 * M, PAGE, 1)
        libc.munmap(place + PAGE, 32 * M - PAGE)
""",
    "huge pages, unmapped but for one small page": """
for _ in range(256):
    place = libc.mmap(0, 2 * HUGE, 3, PRIVATE, -1, 0)
    if place != NOWHERE:
        whole = (place + HUGE - 1) & -HUGE
        libc.madvise(whole, HUGE, 14)
        libc.memset(whole, 1, 1)
        libc.munmap(whole + PAGE, place + 2 * HUGE - whole - PAGE)
""",
    "copies of the pages of libraries": """
def copy():
    for name, rights, start, length in list(segments()):
        if not rights & 2 and b"libtorch" in name and (
            libc.mprotect(start, length, 7) == 0 or libc.mprotect(start, length, 3) == 0
        ):
            for page in range(start, start + length, PAGE):
                ctypes.memmove(page, page, 1)

copy()
while take(M):  # where addresses are short, the kernel may forget to look
    pass
copy()
""",
    "memory that was written to and is read-only then": """
make_room()
for _ in range(64):
    if (place := take(8 * M)) is not None:
        libc.mprotect(place, 8 * M, 1)
""",
    "the stack, moved and enlarged": """
make_room()
top = ctypes.c_size_t.in_dll(libc, "environ").value & -PAGE
for back in range(64):
    place = libc.mremap(top - PAGE * back, PAGE, 300 * M, 1)
    if place != NOWHERE:
        libc.memset(place + PAGE, 1, 300 * M - PAGE)
        break
""",
    "single pages far apart": """
for number in range(1, 20_000):
    if take(PAGE, place=number << 30) is None:
        break
""",
}

_GROUPS = Path("/sys/fs/cgroup/memory")  # version 1; another hierarchy may hold memory elsewhere
_LIMITS = replace(LIMITS, cpu_seconds=10, wall_seconds=30)
_MOST = 1.05
_AT_REST = [["S"]] * 2  # the zygote, and the child that waits for the next job
_LOOK_SECONDS, _REST_SECONDS, _PATIENCE_SECONDS = 0.01, 0.1, 30.0


class _Group:
    """A control group of memory: it counts, and limits nothing."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def peak(self, sandbox: Sandbox, text: str) -> int:
        """Return the most bytes that the kernel held at one time for a run of `text`, beyond what it held before."""
        before = self._at_rest()
        (self._place / "memory.max_usage_in_bytes").write_text("0")
        sandbox.run(plan(), text, _LIMITS)
        return int((self._place / "memory.max_usage_in_bytes").read_text()) - before

    def _at_rest(self) -> int:
        """Return what the zygote and its waiting child hold, once the last run's child is gone and the next waits.

        No run waits for either: on a busy machine they may stand for megabytes more or less.
        """
        last_use, rest_since = -1, 0.0
        for _ in range(int(_PATIENCE_SECONDS / _LOOK_SECONDS)):
            states = [stat_of(pid)[:1] for pid in (self._place / "cgroup.procs").read_text().split()]
            use = int((self._place / "memory.usage_in_bytes").read_text())
            if states != _AT_REST or use != last_use:
                last_use, rest_since = use, time.monotonic()
            elif time.monotonic() - rest_since > _REST_SECONDS:
                return use
            time.sleep(_LOOK_SECONDS)
        raise AssertionError(f"the zygote and its child did not come to rest: {states}")


@pytest.fixture(scope="module")
def group(sandbox: Sandbox) -> Iterator[_Group]:
    """Yield a group with the zygote in it, and with the children that it has from then on."""
    place = _GROUPS / f"grader-test-{os.getpid()}"
    try:
        place.mkdir()
    except OSError as reason:
        pytest.skip(f"no memory control group can be made here: {reason}")
    zygote = innermost(sandbox._zygote._process.pid)
    home = next(
        line.split(":")[2] for line in Path(f"/proc/{zygote}/cgroup").read_text().splitlines() if ":memory:" in line
    )
    try:
        (place / "cgroup.procs").write_text(str(zygote))
        # Other limits, so that no child waits that was made before.
        sandbox.run(plan(), HONEST, replace(_LIMITS, memory_bytes=_LIMITS.memory_bytes + 4096))
        sandbox.run(plan(), HONEST, _LIMITS)
        yield _Group(place)
    finally:
        _emptied(place, _GROUPS / home.lstrip("/"))
        place.rmdir()


def _emptied(place: Path, home: Path) -> None:
    """Move a group's processes to `home`, and those as well that they start or that end meanwhile."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while (members := (place / "cgroup.procs").read_text().split()) and time.monotonic() < until:
        for process in members:
            with suppress(ProcessLookupError):  # it has ended since
                (home / "cgroup.procs").write_text(process)


@pytest.mark.parametrize("way", _WAYS)
def test_no_way_holds_more_than_the_limit(way: str, group: _Group, sandbox: Sandbox) -> None:
    """What a run holds beyond an honest one is at most the limit and five percent, and it does get most of that."""
    honest = group.peak(sandbox, HONEST)
    held = group.peak(sandbox, _TOOLS + _WAYS[way] + _REST) - honest
    share = held / _LIMITS.memory_bytes
    assert 0.8 <= share <= _MOST
