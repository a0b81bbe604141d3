"""The hostile corpus: every attack ends as its file says, and the next honest submission is right."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict

_ATTACKS = sorted((Path(__file__).parents[1] / "hostile").glob("*.py"))
_RAW_NUMBERS = {"clone_bomb", "trace_the_zygote", "rare_system_calls"}  # written with the numbers of x86_64


@pytest.mark.parametrize("attack", _ATTACKS, ids=lambda path: path.stem)
def test_an_attack_gets_nowhere(attack: Path, sandbox: Sandbox) -> None:
    """The attack ends as its file expects, within its limits, and an honest submission after it grades right."""
    source = attack.read_text()
    if platform.machine() != "x86_64" and ("Needs: x86_64" in source or attack.stem in _RAW_NUMBERS):
        pytest.skip("the attack is written in the machine code of x86_64")
    found = re.search(r"^Expected: (.+)$", source, re.MULTILINE)
    assert found is not None, f"{attack.name} does not say what it expects"
    run = sandbox.run(plan(), source, LIMITS)
    assert verdict(run) in found[1].split(" or "), run
    assert len(run.output) <= LIMITS.output_bytes
    assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"


def test_every_attack_names_its_strategy_and_its_walls() -> None:
    """A file without a strategy, an expectation and walls is no documentation."""
    incomplete = [
        attack.name
        for attack in _ATTACKS
        if not re.match(r'""".+\n\nExpected: .+\nStopped by: .+\n', attack.read_text())
    ]
    assert incomplete == []
