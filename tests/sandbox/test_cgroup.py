"""Control groups: both versions' files are read as the kernel writes them, and a limit holds where one can be made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import cgroup, doctor
from grader.sandbox.cgroup import CgroupFolder, ControlGroup, available, find, make_way

_V1_MOUNT = "35 31 0:32 {root} {mount} rw,nosuid - cgroup cgroup rw,memory\n"
_V2_MOUNT = "41 31 0:38 {root} {mount} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
_NO_LIMIT = str(0x7FFFFFFFFFFFF000)  # as version 1 says it


def _proc(folder: Path, groups: str, mounts: str) -> Path:
    """Lay out a /proc with 16 GiB of memory."""
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "meminfo").write_text("MemTotal:       16777216 kB\nMemFree:        1024 kB\n")
    (folder / "proc" / "self" / "cgroup").write_text(groups)
    (folder / "proc" / "self" / "mountinfo").write_text(f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n{mounts}")
    return folder / "proc"


def _version_2(folder: Path, path: str, *, root: str = "/") -> tuple[Path, Path]:
    """Lay out the groups of a machine of version 2, ours at `path`; return /proc and the mount."""
    mount = folder / "cgroup"
    inside = mount / os.path.relpath(path, root)
    inside.mkdir(parents=True)
    for group in (inside, *(above for above in inside.parents if above.is_relative_to(mount))):
        (group / "cgroup.controllers").write_text("cpu io memory pids\n")
        (group / "cgroup.subtree_control").write_text("")
        if group != mount:
            (group / "memory.max").write_text("max\n")
    return _proc(folder, f"0::{path}\n", _V2_MOUNT.format(root=root, mount=mount)), mount


def test_version_2_takes_the_least_limit_on_the_way_up(tmp_path: Path) -> None:
    """A limit of a group above ours holds for us; `max` is none."""
    proc, mount = _version_2(tmp_path, "/slice/service")
    unlimited = available(proc)
    (mount / "slice" / "memory.max").write_text("3221225472\n")

    assert (unlimited, available(proc)) == (16 << 30, 3 << 30)


def test_a_container_sees_its_own_group_at_the_top(tmp_path: Path) -> None:
    """The mount shows what is below the container's group only; its limit is read there."""
    proc, mount = _version_2(tmp_path, "/docker/4711", root="/docker/4711")
    (mount / "memory.max").write_text("2147483648\n")

    assert find(proc / "self") == CgroupFolder(2, mount, mount)
    assert available(proc) == 2 << 30


def test_version_1_is_read_where_it_has_the_memory(tmp_path: Path) -> None:
    """On a machine with both, the memory is counted by the one that names it; its largest number is no limit."""
    mount = tmp_path / "memory"
    (mount / "a" / "b").mkdir(parents=True)
    (mount / "memory.limit_in_bytes").write_text(_NO_LIMIT)
    (mount / "a" / "memory.limit_in_bytes").write_text("1073741824\n")
    (mount / "a" / "b" / "memory.limit_in_bytes").write_text(_NO_LIMIT)
    groups = "8:pids:/\n4:memory:/a/b\n0::/\n"
    mounts = _V1_MOUNT.format(root="/", mount=mount) + _V2_MOUNT.format(root="/", mount=tmp_path / "unified")
    proc = _proc(tmp_path, groups, mounts)

    assert find(proc / "self") == CgroupFolder(1, mount, mount / "a" / "b")
    assert available(proc) == 1 << 30


def test_a_machine_without_groups_has_its_memory(tmp_path: Path) -> None:
    """Nothing is mounted, nothing is counted: the whole machine is there."""
    proc = _proc(tmp_path, "0::/\n", "")

    assert (find(proc / "self"), available(proc)) == (None, 16 << 30)


def test_version_2_makes_a_group_beside_the_services_own(tmp_path: Path) -> None:
    """After the service has moved one down, the group above hands the controller on; swap counts as memory."""
    _, mount = _version_2(tmp_path, "/service")
    ours = mount / "service"
    assert CgroupFolder(2, mount, ours).home() is None
    make_way(ours)
    assert (ours / "cgroup.subtree_control").read_text() == "+memory"
    (ours / "cgroup.subtree_control").write_text("memory\n")  # so the kernel answers
    group = ControlGroup(1 << 30, CgroupFolder(2, mount, ours / cgroup.SUBGROUP))
    os.write(group.file, b"0")
    written = {file.name: file.read_text() for file in group.folder.iterdir()}

    assert (ours / cgroup.SUBGROUP / "cgroup.procs").read_text() == str(os.getpid())
    assert group.folder.parent == ours
    assert written == {"memory.max": str(1 << 30), "memory.swap.max": "0"} | {"cgroup.procs": "0"}


def test_a_group_that_cannot_hand_down_is_told(tmp_path: Path) -> None:
    """A group with processes in it may have none below it: an error that says so, and the service does without."""
    _, mount = _version_2(tmp_path, "/service")
    with pytest.raises(OSError, match="may not hand memory limits down"):
        ControlGroup(1 << 30, CgroupFolder(2, mount, mount / "service"))


def test_the_kernel_keeps_the_limit_of_a_group() -> None:
    """On this machine: who joins is ended when the group is full, and neither that one nor an older one is left."""
    if missing := cgroup.why_not():
        pytest.skip(missing)
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    place = find()
    assert place is not None
    home = place.home()
    assert home is not None
    stale = home / f"attention-gym-sandbox-{dead.pid}-feed"
    stale.mkdir()
    group = ControlGroup(64 << 20, place)
    program = "import os, sys\nos.write(int(sys.argv[1]), b'0')\nbytearray(b'x') * (256 << 20)"
    done = subprocess.run([sys.executable, "-c", program, str(group.file)], pass_fds=[group.file], check=False)
    group.remove()

    assert (done.returncode, group.folder.exists(), stale.exists()) == (-9, False, False)


def test_the_doctor_says_whether_there_is_a_group() -> None:
    """One line, with the memory that counts, and what would give a group where there is none."""
    line = doctor.memory()

    assert line.startswith(f"memory: {available() >> 20} MiB for the service and all submissions; ")
    assert ("needs: root" in line) == bool(cgroup.why_not())
