"""The sandbox as an ordinary user, who has no power to give up: the same walls by other means."""

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


@functools.cache
def _story() -> dict[str, Any]:
    try:
        doctor.require_floor()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    command = [sys.executable, str(_HERE / "ordinary_user.py"), "tests.sandbox.user_story"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == ordinary_user.NOT_POSSIBLE:
        pytest.skip(f"root cannot lend its Python to another user here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    story: dict[str, Any] = json.loads(done.stdout)
    return story


def test_an_ordinary_user_gets_a_sandbox() -> None:
    """Without root the floor holds at least, and an honest submission is right in it."""
    story = _story()
    assert story["user"] != 0
    assert (story["tier"] in ("A", "B"), story["honest"]) == (True, "right")
    assert story["box"] == f"sandbox (tier {story['tier']})"


def test_attacks_get_nowhere_as_an_ordinary_user() -> None:
    """Each attack ends as its file expects, and an honest submission after it is right."""
    for attack in [name for name in _story() if f"after {name}" in _story()]:
        expected = re.search(r"^Expected: (.+)$", (_HERE.parent / f"hostile/{attack}.py").read_text(), re.MULTILINE)
        assert expected is not None
        assert (attack, _story()[attack] in expected[1].split(" or ")) == (attack, True), _story()[attack]
        assert (attack, _story()[f"after {attack}"]) == (attack, "right")
