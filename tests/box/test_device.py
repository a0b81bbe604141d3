"""Where a plan runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.box.run import Limits
from grader.errors import SandboxUnavailable
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.sheet import draw_up
from grader.sandbox.runner import Sandbox

EXERCISE = read_exercise(ROOT / "exercises" / "causal_attention")


def test_the_truth_is_found_on_the_cpu_whatever_the_device() -> None:
    """The reference's plan goes back to the CPU."""
    assert replace(draw_up(EXERCISE, 0).plan, device="cuda").in_double().device == "cpu"


def test_the_sandbox_refuses_to_open_a_door_to_a_driver() -> None:
    """A plan for a GPU is refused before anything starts; the message says what the sandbox can do."""
    plan = replace(draw_up(EXERCISE, 0).plan, device="cuda")
    unstarted = Sandbox.__new__(Sandbox)

    with pytest.raises(SandboxUnavailable, match="on the CPU only"):
        unstarted.run(plan, "", Limits())
