"""The sandbox elsewhere: as an ordinary user, in a container that forbids namespaces, on a kernel without Landlock."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from tests.sandbox import ordinary_user

_HERE = Path(__file__).parent
_STORY = "tests.sandbox.user_story"
_PLACES = {
    "ordinary user": ("ordinary_user.py", _STORY),
    "container": ("contained.py", "unshare,setns", _STORY),
}


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
    """The floor holds at least, the box says its tier, and an honest submission is right in it."""
    story = _story(place)
    assert (story["tier"] in ("A", "B"), story["honest"]) == (True, "right")
    assert story["box"] == f"sandbox (tier {story['tier']})"


def test_an_ordinary_user_is_not_root() -> None:
    """The story above was really told by somebody else."""
    assert _story("ordinary user")["user"] != 0


def test_a_container_lowers_the_tier_to_b() -> None:
    """Where namespaces are forbidden, the doctor notices and the zygote does without."""
    assert _story("container")["tier"] == "B"


@pytest.mark.parametrize("place", _PLACES)
def test_attacks_get_nowhere(place: str) -> None:
    """Each attack ends as its file expects, and an honest submission after it is right."""
    story = _story(place)
    for attack in [name for name in story if f"after {name}" in story]:
        expected = re.search(r"^Expected: (.+)$", (_HERE.parent / f"hostile/{attack}.py").read_text(), re.MULTILINE)
        assert expected is not None
        assert (attack, story[attack] in expected[1].split(" or ")) == (attack, True), story[attack]
        assert (attack, story[f"after {attack}"]) == (attack, "right")


def test_a_kernel_without_landlock_is_refused_in_one_line() -> None:
    """One wall is not enough for strangers' code; the refusal names the missing one and its remedy."""
    done = _start("contained.py", "unshare,landlock_create_ruleset", _STORY)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("grader.errors.SandboxUnavailable: no sandbox on this machine: the wall `landlock` does not")
    assert "Linux 5.13" in last
