"""The bell that wakes the slots."""

from __future__ import annotations

import pytest

from grader.jobs.bell import Bell


@pytest.mark.parametrize("rings", [1, 3])
def test_a_ring_before_falling_asleep_is_heard(rings: int) -> None:
    """No wake-up is lost between a look at the queue and the sleep that follows."""
    bell = Bell()
    heard = bell.rings
    for _ in range(rings):
        bell.ring()
    bell.wait(heard)

    assert bell.rings == rings
