"""Control groups: how much memory the machine or the container lets us have, and a group with a limit for a zygote.

A group of one's own is a second ceiling over all children of a zygote together, kept by the kernel. It can be made
where the group of this process is writable: as root outside of a container, in one that is given its own groups, or
where systemd delegates them (`Delegate=memory` with `DelegateSubgroup=attention-gym`). In version 2 only groups without
processes may hand the memory controller down, except the topmost; so there this process must be in a group below.

Files, version 1: `memory.limit_in_bytes`, `memory.memsw.limit_in_bytes`; version 2: `memory.max`, `memory.swap.max`.
Measured on Linux 6.18 with version 1. Version 2 is written to its documentation in the kernel's admin-guide/cgroup-v2,
and tested against a directory that is laid out like it; it was not run on a kernel.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SUBGROUP = "attention-gym"  # the group of the service itself, where it has been given a tree of groups
_PREFIX = "attention-gym-sandbox-"
_LIMITS = {1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), 2: ("memory.max", "memory.swap.max")}
_PATIENCE = (0.0, 0.01, 0.05, 0.2)  # seconds; a process that was killed leaves its group a moment later


@dataclass(frozen=True, slots=True)
class CgroupFolder:
    """Where the kernel counts the memory of a process: the version, the mount, and the group's directory below it."""

    version: int
    mount: Path
    folder: Path

    def limit(self) -> int | None:
        """Return the least limit of this group and of those above it, in bytes; None where there is none."""
        limits = [_limit_in(folder, self.version) for folder in (self.folder, *self.folder.parents)
                  if folder.is_relative_to(self.mount)]  # fmt: skip
        return min((limit for limit in limits if limit is not None), default=None)

    def home(self) -> Path | None:
        """Return the directory in which a group with a limit can be made; None where there is none."""
        if self.version == 1:
            return self.folder
        candidates = (self.folder, self.folder.parent) if self.folder.name == SUBGROUP else (self.folder,)
        return next((folder for folder in candidates if "memory" in _words(folder / "cgroup.subtree_control")), None)


class ControlGroup:
    """A control group with a limit on memory, for one zygote and its children.

    Attributes:
        folder: its directory.
        file: a descriptor that takes who joins.

    Raises:
        OSError: it cannot be made here.
    """

    def __init__(self, limit: int, place: CgroupFolder) -> None:
        """Make it; groups that a killed service has left behind go."""
        home = place.home()
        if home is None:
            raise OSError(f"{place.folder} may not hand memory limits down")
        _sweep(home)
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


def find(proc: Path = Path("/proc/self")) -> CgroupFolder | None:
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
                return CgroupFolder(version, mount, folder)
    return None


def available(proc: Path = Path("/proc")) -> int:
    """Return how many bytes of memory this process and all others here may have: the machine's, or its group's."""
    total = next(int(line.split()[1]) << 10 for line in _lines(proc / "meminfo") if line.startswith("MemTotal:"))
    place = find(proc / "self")
    limit = place.limit() if place is not None else None
    return total if limit is None else min(total, limit)


def settle() -> None:
    """Move this process one group down where version 2 asks for it, so that groups with limits can be made beside it.

    Done by the service, once, before it starts others. It leaves a group alone in which there are processes of others.
    """
    place = find()
    if place is None or place.version == 1 or place.folder == place.mount or place.home() is not None:
        return
    if _words(place.folder / "cgroup.procs") == [str(os.getpid())]:
        with suppress(OSError):  # nobody has given us this group: there will be none below it
            make_way(place.folder)


def make_way(folder: Path) -> None:
    """Put this process into a group below `folder`, and have `folder` hand the memory controller down.

    Raises:
        OSError: the group is not ours.
    """
    (folder / SUBGROUP).mkdir(exist_ok=True)
    (folder / SUBGROUP / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    (folder / "cgroup.subtree_control").write_text("+memory", encoding="ascii")


def make(limit: int) -> ControlGroup | None:
    """Return a group with a limit on memory in bytes; None where none can be made."""
    place = find()
    if place is None:
        return None
    try:
        return ControlGroup(limit, place)
    except OSError:
        return None


def why_not() -> str:
    """Return why no group can be made here, nothing where one can."""
    place = find()
    if place is None:
        return "this kernel counts no memory by groups, or /sys/fs/cgroup is not there"
    try:
        ControlGroup(1 << 30, place).remove()
    except OSError as error:
        return str(error)
    return ""


def _mounts(proc: Path, version: int) -> list[tuple[Path, str]]:
    """Return where groups of a version are mounted, and which group each shows as its topmost."""
    found = []
    for line in _lines(proc / "mountinfo"):
        fields, _, filesystem = line.partition(" - ")
        kind, _, options = filesystem.split(" ", 2)
        if kind == "cgroup2" if version == 2 else kind == "cgroup" and "memory" in options.split(","):
            root, mount = fields.split()[3:5]
            found.append((Path(mount), root))
    return found


def _limit_in(folder: Path, version: int) -> int | None:
    """Return the limit that a group has, None for none; version 1 says that by a number larger than any machine."""
    words = _words(folder / _LIMITS[version][0])
    if not words or not words[0].isdigit() or int(words[0]) >= 1 << 60:
        return None
    return int(words[0])


def _sweep(home: Path) -> None:
    """Remove the groups whose makers are dead."""
    for folder in home.glob(f"{_PREFIX}*"):
        maker = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path(f"/proc/{maker}").exists():
            _removed(folder)


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
