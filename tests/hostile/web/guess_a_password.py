"""Guess a student's password, from one address and from many, over HTTP and with other spellings of the name.

Expected: after a few wrong ones even the right one has to wait
Stopped by: rate limit (by name and address, by name, by address)
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from tests.service.conftest import Clock

WORD = "correct horse battery"


def control(world):
    clock = Clock()
    service = world.small("guess control", clock)
    service.register("Ada", WORD, "green-tree")
    assert service.sign_in("Ada", WORD, "192.0.2.1")
    service.stop()


def guesses(service, names, addresses):
    """How many wrong passwords are looked at before nobody is any more."""
    looked = 0
    for n in range(3000):
        with pytest.raises(NotAllowed) as refused:
            service.sign_in(names[n % len(names)], f"wrong password {n}", addresses[n % len(addresses)])
        if "Too many" in str(refused.value):
            break
        looked += 1
    return looked


def attack(world):
    clock = Clock()
    service = world.small("guess", clock)
    service.register("Ada", WORD, "green-tree")
    spellings = ["Ada", "ADA", "\uff21da", " ada ", "aDA"]
    assert guesses(service, spellings, ["192.0.2.1"]) == 8
    with pytest.raises(NotAllowed, match="Too many"):
        service.sign_in("Ada", WORD, "192.0.2.1")
    assert guesses(service, spellings, [f"198.51.100.{n}" for n in range(250)]) < 60
    clock.now += 3600
    assert service.sign_in("Ada", WORD, "192.0.2.1")
    service.stop()
