"""Memory attacks in a place with little memory: the service lives, and everybody gets their verdict."""

from __future__ import annotations

import pytest

from tests.sandbox.limited import NotHere, grade_attacks

_MEMORY = 2400 << 20


def test_memory_attacks_end_themselves_only() -> None:
    """Each attack is told, each submission beside one is right, and the service ends by itself with nothing left.

    `python -m benchmarks memory` does the same with fifty attacks, and as an ordinary user who can make no group.
    """
    try:
        outcome = grade_attacks(2, memory=_MEMORY)
    except NotHere as reason:
        pytest.skip(f"no place with little memory can be made: {reason}")

    assert (outcome.exit, outcome.left) == (0, [])
    assert [honest for _, honest in outcome.told] == [["graded", 100.0]] * 2
    assert {status for (status, _), _ in outcome.told} <= {"memory", "timeout", "graded", "rejected"}
    assert outcome.most <= _MEMORY
