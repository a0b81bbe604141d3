"""The call that wakes the workers."""

from __future__ import annotations

import pytest

from grader.jobs.wake_up import WakeUp


@pytest.mark.parametrize("calls", [1, 3])
def test_a_call_before_falling_asleep_is_heard(calls: int) -> None:
    """No wake-up is lost between a look at the queue and the sleep that follows."""
    wake_up = WakeUp()
    heard = wake_up.calls
    for _ in range(calls):
        wake_up.wake()
    wake_up.wait(heard)

    assert wake_up.calls == calls
