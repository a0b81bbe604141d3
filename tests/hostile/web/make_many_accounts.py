"""Make accounts without end with a class code that is right: a board full of names, a share of the queue for each.

Expected: after a large class, the address has to wait
Stopped by: rate limit (accounts by address, sessions by name)
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from grader.service.limits import in_memory
from grader.service.limits import EntryLimits
from tests.service.conftest import Clock


def control(world):
    arrivals = EntryLimits(in_memory(Clock()))
    for _ in range(500):
        arrivals.account("192.0.2.1")


def attack(world):
    clock = Clock()
    arrivals = EntryLimits(in_memory(clock))
    for _ in range(600):
        arrivals.account("192.0.2.1")
    with pytest.raises(NotAllowed, match="accounts were made at your address"):
        arrivals.account("192.0.2.1")
    arrivals.account("192.0.2.2")
    for _ in range(100):
        arrivals.session("eve")
    with pytest.raises(NotAllowed, match="sessions"):
        arrivals.session("eve")
    clock.now += 3600
    arrivals.session("eve")
