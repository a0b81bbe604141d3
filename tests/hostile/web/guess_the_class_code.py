"""Guess the class code, or keep a whole class from registering by guessing wrongly.

Expected: the guesser's address has to wait, and nobody else's
Stopped by: rate limit (by address), comparison in constant time
Own: yes
"""

import pytest

from grader.errors import NotAllowed

WORD = "correct horse battery"


def control(world):
    service = world.small("code control")
    assert service.register("Ada", WORD, "green-tree", "192.0.2.1")
    service.stop()


def attack(world):
    service = world.small("code")
    for n in range(200):
        with pytest.raises(NotAllowed) as refused:
            service.register(f"Eve {n}", WORD, f"code-{n}", "192.0.2.66")
        assert ("Too many" in str(refused.value)) is (n >= 30)
    with pytest.raises(NotAllowed, match="Too many"):
        service.register("Eve", WORD, "green-tree", "192.0.2.66")
    for code in ("", "GREEN-TREE", "green-tree\0", "green", "\ud800", "green-tree' OR '1'='1"):
        with pytest.raises(NotAllowed, match="code is wrong"):
            service.register("Eve", WORD, code, "192.0.2.67")
    assert service.register("Ada", WORD, "green-tree", "192.0.2.1").name == "Ada"
    service.stop()
