"""What there is of memory: groups are read as the kernel writes them, no more runs than fit, and a limit over all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader import bootstrap, installation
from grader.errors import SandboxUnavailable
from grader.exercise.catalog import Catalog
from grader.sandbox import doctor, memory
from grader.sandbox.memory import (
    CHILD,
    GRADER,
    PAGES,
    ZYGOTE,
    ControlGroup,
    GroupFolder,
    MemoryBudget,
    available,
    find_group,
    make_way,
)
from grader.settings import Settings
from tests.sandbox.limited import NotHere, grade_attacks

_V1_MOUNT = "35 31 0:32 {root} {mount} rw,nosuid - cgroup cgroup rw,memory\n"
_V2_MOUNT = "41 31 0:38 {root} {mount} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
_MIB = 1 << 20
_EACH = 1024 * _MIB
_LITTLE = 2400 * _MIB
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

    assert find_group(proc / "self") == GroupFolder(2, mount, mount)
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

    assert find_group(proc / "self") == GroupFolder(1, mount, mount / "a" / "b")
    assert available(proc) == 1 << 30


def test_a_machine_without_groups_has_its_memory(tmp_path: Path) -> None:
    """Nothing is mounted, nothing is counted: the whole machine is there."""
    proc = _proc(tmp_path, "0::/\n", "")

    assert (find_group(proc / "self"), available(proc)) == (None, 16 << 30)


def test_version_2_makes_a_group_beside_the_services_own(tmp_path: Path) -> None:
    """After the service has moved one down, the group above hands the controller on; swap counts as memory."""
    _, mount = _version_2(tmp_path, "/service")
    ours = mount / "service"
    assert GroupFolder(2, mount, ours).home() is None
    make_way(ours)
    assert (ours / "cgroup.subtree_control").read_text() == "+memory"
    (ours / "cgroup.subtree_control").write_text("memory\n")  # so the kernel answers
    group = ControlGroup(1 << 30, GroupFolder(2, mount, ours / memory.SUBGROUP))
    os.write(group.file, b"0")
    written = {file.name: file.read_text() for file in group.folder.iterdir()}

    assert (ours / memory.SUBGROUP / "cgroup.procs").read_text() == str(os.getpid())
    assert group.folder.parent == ours
    assert written == {"memory.max": str(1 << 30), "memory.swap.max": "0"} | {"cgroup.procs": "0"}


def test_a_group_that_cannot_hand_down_is_told(tmp_path: Path) -> None:
    """A group with processes in it may have none below it: an error that says so, and the service does without."""
    _, mount = _version_2(tmp_path, "/service")
    with pytest.raises(OSError, match="may not hand memory limits down"):
        ControlGroup(1 << 30, GroupFolder(2, mount, mount / "service"))


def test_the_kernel_keeps_the_limit_of_a_group() -> None:
    """On this machine: who joins is ended when the group is full, and neither that one nor an older one is left."""
    if missing := memory.why_no_group():
        pytest.skip(missing)
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    place = find_group()
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
    assert ("needs: root" in line) == bool(memory.why_no_group())


@pytest.mark.parametrize("wanted", [1, 2, 3, 7])
@pytest.mark.parametrize("memory", [2400, 3500, 4700, 9000, 64_000])
def test_slots_are_as_many_as_fit(wanted: int, memory: int) -> None:
    """What all of them may use at once is there, and one slot more would not fit or was not asked for."""
    budget = MemoryBudget(memory * _MIB, _EACH)
    slots = budget.slots(wanted)
    processes = budget.processes(slots)

    assert PAGES + processes * (GRADER + ZYGOTE) + slots * (_EACH + CHILD) <= memory * _MIB
    assert slots == wanted or budget.needed(slots + 1) > memory * _MIB
    assert processes in (slots, (slots + 1) // 2)
    assert processes == slots or budget.needed(slots, slots) > memory * _MIB


def test_a_place_without_room_for_one_is_refused_in_one_line(tmp_path: Path) -> None:
    """The service does not start, and says how much there is, how much it needs, and which setting knows better."""
    settings = Settings(data=tmp_path, memory_mib=1500)
    with pytest.raises(SandboxUnavailable) as refusal:
        bootstrap.build(settings)

    assert str(refusal.value).startswith(
        "there is too little memory to grade: 1500 MiB, where one submission at a time"
    )
    assert "ATTENTION_GYM_MEMORY_MIB" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_service_takes_fewer_slots_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """With room for two, two of eight slots are left, and the log has the figures."""
    settings = Settings(slots=8, memory_mib=4000)

    assert installation.slots_in_memory(settings, Catalog([])) == 2
    assert "memory for 2 submissions at once, not for 8: 4000 MiB, where those need" in caplog.text


def test_memory_attacks_end_themselves_only() -> None:
    """The attack is told, the submission beside it is right, and the service ends by itself with nothing left.

    `python -m benchmarks memory` does the same with fifty attacks, and as an ordinary user who can make no group.
    """
    try:
        outcome = grade_attacks(1, memory=_LITTLE)
    except NotHere as reason:
        pytest.skip(f"no place with little memory can be made: {reason}")

    assert (outcome.exit, outcome.left) == (0, [])
    assert [honest for _, honest in outcome.told] == [["graded", 100.0]]
    assert {status for (status, _), _ in outcome.told} <= {"memory", "timeout", "graded", "rejected"}
    assert outcome.most <= _LITTLE
