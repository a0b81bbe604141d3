"""The sandbox elsewhere: as an ordinary user, in a container that forbids namespaces, on a kernel without Landlock."""

from __future__ import annotations

import errno
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.memory import CHILD_RANK, ZYGOTE_RANK
from tests.sandbox import ordinary_user

_HERE = Path(__file__).parent
_STORY = "tests.sandbox.user_story"
_PLACES = {
    "ordinary user": ("ordinary_user.py", _STORY),
    "container": ("contained.py", "unshare,setns", _STORY),
    "mounting forbidden": ("contained.py", "mount", _STORY),
    "one wall": ("contained.py", "landlock_create_ruleset,unshare", _STORY, "one-wall"),
}
_TIERS = {"ordinary user": "A", "container": "B", "mounting forbidden": "B", "one wall": "C"}


def _start(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(_HERE / program), *arguments], capture_output=True, text=True, check=False
    )


@functools.cache
def _story(place: str) -> dict[str, Any]:
    try:
        doctor.require_floor()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    done = _start(*_PLACES[place])
    if done.returncode == ordinary_user.NOT_POSSIBLE:
        pytest.skip(f"root cannot lend its Python to another user here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    story: dict[str, Any] = json.loads(done.stdout)
    return story


@pytest.mark.parametrize("place", _PLACES)
def test_the_sandbox_stands(place: str) -> None:
    """The box says its tier, which is what the walls of the place allow, and an honest submission is right in it."""
    story = _story(place)
    if doctor.probe().tier == "A":
        assert story["tier"] == _TIERS[place]
    assert story["honest"] == "right"
    assert story["box"].startswith(f"sandbox (tier {story['tier']}")


def test_one_wall_is_called_that() -> None:
    """Where somebody has accepted tier C, the name of the box, which the pages show, says what is given up."""
    assert _story("one wall")["box"] == "sandbox (tier C, one wall only)"


def test_an_ordinary_user_is_not_root() -> None:
    """The story above was really told by somebody else."""
    assert _story("ordinary user")["user"] != 0


def test_a_machine_without_room_for_a_child_is_our_fault_and_passes() -> None:
    """The run ends in a fault of ours that says why, as often as it happens; the same zygote then forks as before."""
    story = _story("ordinary user")
    refused = OSError(errno.EAGAIN, f"fork: {os.strerror(errno.EAGAIN)}")
    reason = f"NotStarted: the sandbox can start no child now: {refused}"
    assert story["refused"] == [reason] * 2
    assert (story["room again"], story["same zygote"]) == ("right", True)


def test_a_kernel_without_landlock_is_refused_in_one_line() -> None:
    """One wall is not enough for strangers' code; the refusal names the missing one and its remedy."""
    done = _start("contained.py", "unshare,landlock_create_ruleset", _STORY)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("grader.errors.SandboxUnavailable: no sandbox on this machine: the wall `landlock` does not")
    assert "Linux 5.13" in last


@pytest.mark.parametrize(
    ("given", "code", "last"),
    [
        ("", 1, "ATTENTION_GYM_ALLOW_ONE_WALL=yes would start it all the same, with one wall around strangers' code"),
        ("yes", 0, "the settings accept this: ATTENTION_GYM_ALLOW_ONE_WALL is on, and strangers' code has one wall"),
    ],
)
def test_the_doctor_says_what_the_settings_make_of_one_wall(given: str, code: int, last: str) -> None:
    """Without the setting the exit code is that of a machine that may not serve; with it, a line says what it costs."""
    command = [sys.executable, str(_HERE / "contained.py"), "unshare,landlock_create_ruleset", "grader", "doctor"]
    environment = {**os.environ, "ATTENTION_GYM_ALLOW_ONE_WALL": given}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout.splitlines()[-1].startswith(last)) == (code, True), done.stdout


@pytest.mark.parametrize("place", _PLACES)
def test_the_kernel_would_end_children_first(place: str) -> None:
    """When memory runs out a child goes before its zygote, and the zygote before whoever started it."""
    assert _story(place)["ranks"] == [ZYGOTE_RANK, CHILD_RANK]
