"""A box that is begun early: it warms up meanwhile, and leaves nothing behind if nobody wants it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox.choice import BoxToCome
from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict

_ROOT = Path(__file__).parents[2]


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_box_that_was_begun_comes_and_works(sandbox: Sandbox) -> None:
    """What `wait` returns is a sandbox of its own, which closing the wait leaves alone."""
    coming = BoxToCome()
    box = coming.wait(allow_plain=False)
    coming.close()
    assert isinstance(box, Sandbox)
    with box:
        assert box.name == sandbox.name
        assert verdict(box.run(plan(), HONEST, LIMITS)) == "right"


def test_a_box_that_nobody_wants_is_ended_at_once(sandbox: Sandbox) -> None:
    """A wrong use is answered without waiting for a warm-up, and no process or descriptor stays."""
    before = _descriptors()
    coming = BoxToCome()
    begun = coming._zygote
    assert begun is not None
    coming.close()
    assert begun._process.returncode == -9  # killed, not waited for until it was warm
    assert _descriptors() == before


@pytest.mark.parametrize("module", ["grader.local", "grader.sandbox.choice", "grader.pytest_plugin"])
def test_a_box_is_begun_before_torch_is_imported(module: str) -> None:
    """Both processes import torch for a second or more; they can only do so side by side if ours has not done so."""
    program = f"import sys, {module}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
