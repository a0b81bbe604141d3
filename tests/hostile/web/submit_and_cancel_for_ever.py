"""Fill the disk: hand in the longest source there is, cancel it, and again; what was handed in is kept.

Expected: a pause after a lot in a short time, for this person only
Stopped by: allowance (disk space of a person, of a household)
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from tests.service.conftest import Clock

LONG = "#" * (256 << 10)


def rounds(service, user, source, most):
    for done in range(most):
        try:
            service.cancel(user, service.submit(user, "softmax", source))
        except NotAllowed as refusal:
            assert "MiB of disk lately" in str(refusal)
            return done
    return most


def control(world):
    service = world.small("submit control")
    ada = service.register("Ada", "correct horse battery", "green-tree")
    assert rounds(service, ada, "x = 1", 60) == 60  # somebody who works hard notices nothing
    service.stop()


def attack(world):
    clock = Clock()
    service = world.small("submit", clock)
    eve, ada = (service.register(name, "correct horse battery", "green-tree") for name in ("Eve", "Ada"))
    assert rounds(service, eve, LONG, 200) == 60
    with pytest.raises(NotAllowed, match="There is room again in"):
        service.submit(eve, "causal_mask", LONG)
    assert rounds(service, ada, LONG, 1) == 1
    clock.now += 3600
    assert rounds(service, eve, "x", 1) == 1
    service.stop()
