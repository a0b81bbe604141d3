"""The hostile corpus: every attack ends as its file says, and the next honest submission is right."""

from __future__ import annotations

from collections import Counter

import pytest

from grader.sandbox.runner import Sandbox
from tests.sandbox.arena_corpus import AREAS, FOLDER, STOPPERS, Attack, corpus
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict

_ATTACKS = corpus()


@pytest.mark.parametrize("attack", _ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gets_nowhere(attack: Attack, sandbox: Sandbox) -> None:
    """The attack ends as its file expects, within its limits, and an honest submission after it grades right."""
    if not attack.runs_here:
        pytest.skip(f"the attack is written for {attack.needs}")
    run = sandbox.run(plan(), attack.source, attack.limits)
    assert verdict(run) in attack.expected, run
    assert len(run.output) <= LIMITS.output_bytes
    assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"


def test_every_attack_names_its_strategy_and_its_walls() -> None:
    """A file without a strategy in a sentence, an expectation and walls from the list is no documentation."""
    incomplete = [
        attack.name
        for attack in _ATTACKS
        if not (attack.strategy.endswith((".", ")")) and "" not in attack.expected)
        or not set(attack.stoppers) <= set(STOPPERS)
    ]
    assert incomplete == []


def test_every_attack_has_a_name_and_a_place_of_its_own() -> None:
    """A name stands for one attack in every mode, and no file lies where nobody would run it."""
    names = Counter(attack.name for attack in _ATTACKS)
    assert [name for name, count in names.items() if count > 1] == []
    assert [path.name for path in FOLDER.glob("*.py")] == []
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} - {"__pycache__"} <= {
        *AREAS,
        "cheating",
        "labs",
        "locating",
        "web",
    }


def test_the_corpus_is_large_enough() -> None:
    """Sixty-eight probes at least, and twenty attacks that were thought up here, each with its reason."""
    assert len([attack for attack in _ATTACKS if attack.is_probe]) >= 68
    assert len([attack for attack in _ATTACKS if attack.own]) >= 20
    assert len(_ATTACKS) >= 137


def test_every_wall_has_an_attack_that_it_stops() -> None:
    """A wall that nothing runs into would be there on trust."""
    assert set(STOPPERS) - {wall for attack in _ATTACKS for wall in attack.stoppers} == set()
