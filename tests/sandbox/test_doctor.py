"""The doctor tries the walls instead of believing in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.doctor import MachineReport, Wall
from grader.sandbox.probes import PROBES

_ROOT = Path(__file__).parents[2]


_RULES = {  # what must be forbidden so that a wall is missing, which tier is left, and which walls go down with it
    "system call filter": ("prctl=22", "none", []),
    "limits": ("prlimit64", "none", []),
    "landlock": ("landlock_create_ruleset", "B", ["landlock network", "landlock signals"]),
    "empty network": ("unshare&0x40000000", "B", ["empty root"]),
    "own shared memory": ("unshare&0x08000000", "B", ["empty root"]),
    "own host name": ("unshare&0x04000000", "B", ["empty root"]),
    "own processes": ("setns", "B", ["empty root"]),
    "empty root": ("mount", "B", []),
}


def _found_behind(rules: str) -> dict[str, Any]:
    """Return what the doctor finds where the kernel refuses certain calls."""
    command = [sys.executable, str(Path(__file__).parent / "contained.py"), rules, "tests.sandbox.test_doctor"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _walls(*missing: str) -> MachineReport:
    return MachineReport(tuple(Wall(name, name not in missing, "gone", "a remedy") for name in doctor._REMEDIES))


@pytest.mark.parametrize("wall", _RULES)
def test_a_wall_that_is_taken_away_is_missed(wall: str) -> None:
    """The doctor names the wall, and what stands on it; the tier says what is left."""
    if doctor.probe().tier != "A":
        pytest.skip("some walls are missing here without our doing")
    rules, tier, fallen = _RULES[wall]
    found = _found_behind(rules)
    assert (found["tier"], sorted(found["missing"])) == (tier, sorted([wall, *fallen]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to give up")
def test_a_root_who_cannot_stop_being_root_has_no_sandbox() -> None:
    """Children would run as user 0; that is refused at every tier."""
    found = _found_behind("setresuid")
    assert (found["tier"], list(found["missing"])) == ("none", ["not root"])


@pytest.mark.parametrize("apart", sorted(doctor._APART))
def test_tier_a_is_all_of_its_walls(apart: str) -> None:
    """Without any one namespace it is B at most, and with that C where Landlock is missing too."""
    assert [_walls().tier, _walls(apart).tier, _walls(apart, "landlock").tier] == ["A", "B", "C"]


def test_two_walls_of_different_kinds_are_b() -> None:
    """A kernel without Landlock makes up for it with namespaces; nothing makes up for the filter."""
    assert [_walls("landlock").tier, _walls("landlock", "landlock signals").tier] == ["B", "B"]
    assert _walls("system call filter").tier == "none"


def test_a_missing_wall_says_what_would_raise_it() -> None:
    """The line of a missing wall names what went wrong and the remedy; the last line is the tier."""
    lines = _walls("empty root").lines()
    assert lines[-2] == "empty root          MISSING: gone (needs: a remedy)"
    assert lines[-1].startswith("tier B: ")


def test_one_wall_will_do_only_where_it_is_allowed() -> None:
    """Tier C is refused unless somebody has said otherwise; where nothing holds, that does not help either."""
    one = _walls("landlock", "empty root")
    with pytest.raises(SandboxUnavailable, match="`landlock`"):
        doctor.require_floor(one)
    assert doctor.require_floor(one, allow_one_wall=True) is one
    with pytest.raises(SandboxUnavailable, match="`system call filter`"):
        doctor.require_floor(_walls("system call filter"), allow_one_wall=True)


def test_every_wall_has_its_line() -> None:
    """Each is tried here, and told in a line of its own; one for the tier comes last."""
    found = doctor.probe()
    told = [line.split("  ")[0] for line in found.lines()[:-1]]
    assert told == list(doctor._REMEDIES) == list(PROBES), "a wall has a probe in `PROBES` and a line in `_REMEDIES`"


def test_the_doctor_notices_a_wall_that_does_not_hold() -> None:
    """A probe whose wall goes up without effect is a finding, not a success."""
    program = (
        "import os\nfrom grader.sandbox import probes\n"
        "from grader.sandbox.walls import landlock, namespaces, seccomp\n"
        "seccomp.load = lambda program: None\n"
        "landlock.restrict = lambda ruleset: None\n"
        "namespaces.separate = lambda kinds=0: None\n"
        "namespaces.enter = lambda: True\n"
        "namespaces.fork_alone = lambda home: os.fork()\n"
        "namespaces.NAME = 'another name'\n"
        "namespaces.leave_files = lambda: None\n"
        "print(*probes.probe_all().values(), sep='\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    said = dict(zip(doctor._REMEDIES, done.stdout.split("\n"), strict=False))
    assert said["system call filter"] == "it could open a file"
    assert said["landlock"] == "it could open a directory"
    assert said["empty network"] == "it could reach a program of this machine"
    assert said["own shared memory"] == "it could find shared memory of others"
    assert said["own host name"] == "it could tell which machine this is"
    assert said["own processes"] == "a child can see other processes, or its parent cannot fork another one"
    assert said["empty root"].startswith("the empty root holds ")


def test_a_machine_without_a_floor_is_refused_in_one_line() -> None:
    """The refusal names the first missing wall and its remedy, without a line break."""
    program = (
        "from grader.sandbox import probes\n"
        "from grader.sandbox.walls import seccomp\n"
        "seccomp.load = lambda program: None\n"
        "from grader.sandbox import doctor\n"
        "doctor._findings = lambda _: probes.probe_all()\n"
        "try:\n    doctor.require_floor()\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("SandboxUnavailable no sandbox on this machine: the wall `system call filter`")
    assert done.stdout.count("\n") == 1


if __name__ == "__main__":  # in a place without some walls, see `_found_behind`
    _found = doctor.probe()
    print(json.dumps({"tier": _found.tier, "missing": {one.name: one.detail for one in _found.walls if not one.holds}}))
