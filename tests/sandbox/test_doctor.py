"""The doctor tries the walls instead of believing in them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from grader.sandbox import doctor
from grader.sandbox.doctor import Diagnosis, Wall

_ROOT = Path(__file__).parents[2]


def _walls(*missing: str) -> Diagnosis:
    names = ("system call filter", "limits", "not root", "landlock", "landlock signals", "namespaces")
    walls = tuple(Wall(name, name not in missing, "gone", "a remedy") for name in names)
    return Diagnosis(walls, doctor._tier({wall.name for wall in walls if wall.bites}))


def test_a_full_set_of_walls_is_tier_a() -> None:
    """All walls: A; without namespaces B; without Landlock C; without the filter none."""
    tiers = [_walls(*gone).tier for gone in ((), ("namespaces",), ("landlock",), ("system call filter",))]
    assert tiers == ["A", "B", "C", "none"]


def test_a_missing_wall_says_what_would_raise_it() -> None:
    """The line of a missing wall names what went wrong and the remedy; the last line is the tier."""
    lines = _walls("namespaces").lines()
    assert lines[5] == "namespaces          MISSING: gone (needs: a remedy)"
    assert lines[-1].startswith("tier B: ")


def test_the_probes_are_quick() -> None:
    """A start-up check may take two seconds at most."""
    started = time.monotonic()
    found = doctor.probe()
    assert time.monotonic() - started < 2.0
    assert len(found.lines()) == len(found.walls) + 1


def test_the_doctor_notices_a_wall_that_does_not_bite() -> None:
    """A probe whose wall goes up without effect is a finding, not a success."""
    program = (
        "from grader.sandbox import probes\n"
        "from grader.sandbox.lockdown import landlock, seccomp\n"
        "seccomp.load = lambda program: None\n"
        "landlock.restrict = lambda ruleset: None\n"
        "found = probes.probe_all()\n"
        "print(found['system call filter'], '|', found['landlock'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "it could open a file | it could open a directory\n"


def test_a_machine_without_a_floor_is_refused_in_one_line() -> None:
    """The refusal names the first missing wall and its remedy, without a line break."""
    program = (
        "from grader.sandbox import probes\n"
        "from grader.sandbox.lockdown import seccomp\n"
        "seccomp.load = lambda program: None\n"
        "from grader.sandbox import doctor\n"
        "doctor._findings = lambda _: probes.probe_all()\n"
        "try:\n    doctor.require_floor()\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("SandboxUnavailable no sandbox on this machine: the wall `system call filter`")
    assert done.stdout.count("\n") == 1
