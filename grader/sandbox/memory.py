"""Memory: how much the machine or the container lets us have, how many runs fit, and a limit for all of a zygote's.

A child that waits for its job costs as much as one at rest; what a run may use comes on top only while it runs. So the
memory of the whole service is bounded by its parts at rest, and the limit of one run for each slot. The parts were
measured on Linux 6.18 with torch 2.13 for the CPU, as private memory, and rounded up.

A control group of one's own is a second ceiling over all children of a zygote together, kept by the kernel. It can be
made where the group of this process is writable: as root outside of a container, in one that is given its own groups,
or where systemd delegates them (`Delegate=memory` with `DelegateSubgroup=attention-gym`). In version 2 only groups
without processes may hand the memory controller down, except the topmost; so there this process must be in a group
below.

Where memory runs out all the same, the kernel ends a child first, then its zygote, then a grading process: without
ranks it takes whoever is largest, such as the process that serves the pages. A process may make itself more likely to
be ended without any privilege, and what it forks inherits that. A rank is added to the share of the memory that a
process has, in tenths of a percent: a child at 1000 comes before any process that has no rank of its own.

Files, version 1: `memory.limit_in_bytes`, `memory.memsw.limit_in_bytes`; version 2: `memory.max`, `memory.swap.max`.
Measured on Linux 6.18 with version 1. Version 2 is written to its documentation in the kernel's admin-guide/cgroup-v2,
and tested against a directory that is laid out like it; it was not run on a kernel.
"""

from __future__ import annotations

import math
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from grader.errors import SandboxUnavailable

_MIB = 1 << 20
PAGES = 384 * _MIB  # the process that serves the pages
GRADER = 384 * _MIB  # a grading process
ZYGOTE = 384 * _MIB  # its zygote, with the children that wait
CHILD = 64 * _MIB  # a child at rest
_MOST_SLOTS = 2  # in one process; Python's part of a grade is a third of it

CHILD_RANK, ZYGOTE_RANK, GRADER_RANK = 1000, 700, 300
_RANK_FILE = "/proc/self/oom_score_adj"

SUBGROUP = "attention-gym"  # the group of the service itself, where it has been given a tree of groups
_PREFIX = "attention-gym-sandbox-"
_LIMITS = {1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), 2: ("memory.max", "memory.swap.max")}
_PATIENCE = (0.0, 0.01, 0.05, 0.2)  # seconds; a process that was killed leaves its group a moment later


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """What the service may use, in bytes; `each` is the largest limit that a run may have."""

    memory: int
    each: int

    def slots(self, wanted: int) -> int:
        """Return how many slots there is room for, at most `wanted`.

        Raises:
            SandboxUnavailable: for none.
        """
        for slots in range(wanted, 0, -1):
            if self.needed(slots) <= self.memory:
                return slots
        raise SandboxUnavailable(
            f"there is too little memory to grade: {self.memory // _MIB} MiB, where one submission at a time needs "
            f"{self.needed(1) // _MIB} MiB (of them {self.each // _MIB} MiB for the submission). Give the machine "
            "or the container more, or say in ATTENTION_GYM_MEMORY_MIB how much there really is"
        )

    def processes(self, slots: int) -> int:
        """Return how many grading processes those slots are shared out to: one each, or two in one to save memory."""
        return slots if self.needed(slots, slots) <= self.memory else math.ceil(slots / _MOST_SLOTS)

    def needed(self, slots: int, processes: int = 0) -> int:
        """Return the bytes that the service needs at most with so many slots, in as few processes as may be or more."""
        processes = processes or math.ceil(slots / _MOST_SLOTS)
        return PAGES + processes * (GRADER + ZYGOTE) + slots * (self.each + CHILD)

    def room(self, slots: int) -> int:
        """Return the bytes that a zygote with all its children needs at most, for so many runs at once."""
        return ZYGOTE + slots * (self.each + CHILD)


@dataclass(frozen=True, slots=True)
class GroupFolder:
    """Where the kernel counts the memory of a process: the version, the mount, and the group's directory below it."""

    version: int
    mount: Path
    folder: Path

    def limit(self) -> int | None:
        """Return the least limit of this group and of those above it, in bytes; None where there is none."""
        limits = []
        for folder in (self.folder, *self.folder.parents):
            words = _words(folder / _LIMITS[self.version][0]) if folder.is_relative_to(self.mount) else []
            if words and words[0].isdigit() and int(words[0]) < 1 << 60:  # none: `max`, or more than any machine has
                limits.append(int(words[0]))
        return min(limits, default=None)

    def home(self) -> Path | None:
        """Return the directory in which a group with a limit can be made; None where there is none."""
        if self.version == 1:
            return self.folder
        candidates = (self.folder, self.folder.parent) if self.folder.name == SUBGROUP else (self.folder,)
        return next((folder for folder in candidates if "memory" in _words(folder / "cgroup.subtree_control")), None)


class ControlGroup:
    """A control group with a limit on memory, for one zygote and its children; those of a killed service go.

    `folder` is its directory, `file` a descriptor that takes who joins.

    Raises:
        OSError: it cannot be made here.
    """

    def __init__(self, limit: int, place: GroupFolder) -> None:
        home = place.home()
        if home is None:
            raise OSError(f"{place.folder} may not hand memory limits down")
        for left in home.glob(f"{_PREFIX}*"):
            maker = left.name.removeprefix(_PREFIX).partition("-")[0]
            if not Path(f"/proc/{maker}").exists():
                _removed(left)
        self.folder = home / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self.folder.mkdir()
        memory, swap = _LIMITS[place.version]
        try:
            (self.folder / memory).write_text(str(limit), encoding="ascii")
            with suppress(OSError):  # a kernel without swap accounting has no such file
                (self.folder / swap).write_text(str(limit if place.version == 1 else 0), encoding="ascii")
            self.file = os.open(self.folder / "cgroup.procs", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the group; one that is not empty yet stays for the next sweep."""
        if (file := self.__dict__.pop("file", -1)) >= 0:
            os.close(file)
        for pause in _PATIENCE:
            time.sleep(pause)
            if _removed(self.folder):
                return


def find_group(proc: Path = Path("/proc/self")) -> GroupFolder | None:
    """Return where the memory of this process is counted; None where the kernel has no such groups."""
    paths = {}
    for line in _lines(proc / "cgroup"):
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            paths[1] = path
        elif number == "0":
            paths[2] = path
    for version in sorted(paths):  # the controller belongs to one of the two; version 1 names it
        for mount, root in _mounts(proc, version):
            inside = os.path.relpath(paths[version], root)
            folder = mount if inside.startswith("..") else mount / inside
            if version == 1 or "memory" in _words(folder / "cgroup.controllers"):
                return GroupFolder(version, mount, folder)
    return None


def available(proc: Path = Path("/proc")) -> int:
    """Return how many bytes of memory this process and all others here may have: the machine's, or its group's."""
    total = next(int(line.split()[1]) << 10 for line in _lines(proc / "meminfo") if line.startswith("MemTotal:"))
    place = find_group(proc / "self")
    limit = place.limit() if place is not None else None
    return total if limit is None else min(total, limit)


def settle() -> None:
    """Move this process one group down where version 2 asks for it, so that groups with limits can be made beside it.

    Done by the service, once, before it starts others. It leaves a group alone in which there are processes of others.
    """
    place = find_group()
    if place is None or place.version == 1 or place.folder == place.mount or place.home() is not None:
        return
    if _words(place.folder / "cgroup.procs") == [str(os.getpid())]:
        with suppress(OSError):  # nobody has given us this group: there will be none below it
            make_way(place.folder)


def make_way(folder: Path) -> None:
    """Put this process into a group below `folder`, and have `folder` hand the memory controller down."""
    (folder / SUBGROUP).mkdir(exist_ok=True)
    (folder / SUBGROUP / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    (folder / "cgroup.subtree_control").write_text("+memory", encoding="ascii")


def limited_group(limit: int) -> ControlGroup | None:
    """Return a group with a limit on memory in bytes; None where none can be made."""
    place = find_group()
    with suppress(OSError):
        return ControlGroup(limit, place) if place is not None else None
    return None


def why_no_group() -> str:
    """Return why no group can be made here, nothing where one can."""
    place = find_group()
    if place is None:
        return "this kernel counts no memory by groups, or /sys/fs/cgroup is not there"
    try:
        ControlGroup(1 << 30, place).remove()
    except OSError as error:
        return str(error)
    return ""


def stand_at(rank: int) -> None:
    """Take a rank for this process and what it starts; one that is higher already is kept."""
    with suppress(OSError):  # no kernel with ranks, or they are hidden; then there is no order, and nothing breaks
        file = os.open(_RANK_FILE, os.O_RDWR)
        try:
            if int(os.pread(file, 16, 0)) < rank:
                os.pwrite(file, str(rank).encode(), 0)
        finally:
            os.close(file)


def kernel_kills() -> int | None:
    """Return how many processes the kernel has ended for lack of memory, wherever; None: nobody counts."""
    with suppress(OSError):
        text = Path("/proc/vmstat").read_bytes()  # to its end: the kernel gives it in pieces
        _, _, rest = text.partition(b"\noom_kill ")
        if rest:
            return int(rest.partition(b"\n")[0])
    return None


class Ranks:
    """Gives children a higher rank than this process has; made while it can still open files."""

    def __init__(self) -> None:
        self._file, self._own = -1, b""
        with suppress(OSError):
            self._file = os.open(_RANK_FILE, os.O_RDWR | os.O_CLOEXEC)
            self._own = os.pread(self._file, 16, 0).strip()

    @contextmanager
    def forking(self) -> Iterator[None]:
        """Have a child that is forked in the block, and never leaves it, ended before this process."""
        self._take(str(CHILD_RANK).encode())
        try:
            yield
        finally:
            self._take(self._own)  # without a privilege too: it never was lower

    def _take(self, rank: bytes) -> None:
        with suppress(OSError):
            os.pwrite(self._file, rank, 0)


def _mounts(proc: Path, version: int) -> list[tuple[Path, str]]:
    """Return where groups of a version are mounted, and which group each shows as its topmost."""
    mounts = []
    for line in _lines(proc / "mountinfo"):
        fields, _, filesystem = line.partition(" - ")
        kind, _, options = filesystem.split(" ", 2)
        if kind == "cgroup2" if version == 2 else kind == "cgroup" and "memory" in options.split(","):
            root, mount = fields.split()[3:5]
            mounts.append((Path(mount), root))
    return mounts


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # somebody is still in it
        return False
    return True


def _words(file: Path) -> list[str]:
    return " ".join(_lines(file)).split()


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
