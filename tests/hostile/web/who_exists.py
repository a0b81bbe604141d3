"""Learn which names exist from the form for signing in: by other words, or by less work.

Expected: the same words, and a password is hashed either way
Stopped by: the same answer for both, a decoy to compare with
Own: yes
"""

import re

import pytest

from argon2 import PasswordHasher
from grader.errors import NotAllowed
from tests.pages.conftest import PASSWORD


class Counting(PasswordHasher):
    """A hasher that counts what it is asked."""

    asked = 0

    def verify(self, hash, password):
        Counting.asked += 1
        return super().verify(hash, password)


def work(service, name):
    before = Counting.asked
    with pytest.raises(NotAllowed, match=r"^The name or the password is wrong\.$"):
        service.sign_in(name, "a wrong password", "192.0.2.1")
    return Counting.asked - before


def control(world):
    hasher = Counting(time_cost=1, memory_cost=8, parallelism=1)
    before = Counting.asked
    hasher.verify(hasher.hash("x"), "x")
    assert Counting.asked - before == 1


def attack(world):
    service = world.small("who exists")
    service.accounts._hasher = Counting(time_cost=1, memory_cost=8, parallelism=1)
    service.register("Ada", "correct horse battery", "green-tree")
    assert work(service, "Ada") == work(service, "Nobody") == work(service, "a" * 5000) == work(service, "\0") == 1
    service.stop()
    client = world.client()
    told = [client.post("/sign-in", data={"name": name, "password": "a wrong word"}) for name in ("Ada Honest", "Bob Honest")]
    assert told[0].status_code == told[1].status_code == 403
    plain = [re.sub(r'nonce="[^"]*"', "", answer.text) for answer in told]
    assert plain[0].replace("Ada", "Bob") == plain[1]
    assert PASSWORD not in told[0].text
