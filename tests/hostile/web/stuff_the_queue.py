"""Keep everybody waiting: hand in something slow to every exercise at once, before the others come.

Expected: each further one stands behind; whoever comes later is second at worst
Stopped by: one unfinished submission for each exercise, turns by seconds used
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from grader.jobs import claims
from tests.service.conftest import Clock


def order(service, clock):
    """The submissions as they are taken, one after the other."""
    taken = []
    with service._database.write() as session:
        while claim := claims.take(session, "cpu", worker="w", token=f"t{len(taken)}", now=clock.now):
            taken.append(claim.id)
    return taken


def control(world):
    # In the order of arrival, the latecomer would stand behind all of them.
    assert len(world.service.catalog) >= 20


def attack(world):
    clock = Clock()
    service = world.small("stuffed", clock)
    eve, ada = (service.register(name, "correct horse battery", "green-tree") for name in ("Eve", "Ada"))
    stuffed = [service.submit(eve, exercise, "while True: pass") for exercise in service.catalog]
    with pytest.raises(NotAllowed, match="has not been graded yet"):
        service.submit(eve, "softmax", "again")
    clock.now += 1
    late = service.submit(ada, "softmax", "honest")
    assert len(stuffed) == len(service.catalog)
    taken = order(service, clock)
    assert set(taken) == {late, *stuffed}
    assert taken.index(late) == 1
    service.stop()
