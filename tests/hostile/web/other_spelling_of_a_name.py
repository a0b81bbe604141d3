"""Sign in as somebody, or take their name, in letters that become the same ones: wide, circled, composed otherwise.

Expected: taken; and all spellings are the one person, who has one password
Stopped by: the folded name is the key
Own: yes
"""

import pytest

from grader.errors import NotAllowed

SPELLINGS = ["ADA", "\uff21\uff44\uff41", "\u24b6\u24d3\u24d0", " ada ", "\U0001d400da", "Ad\u00aa"]
WORD = "correct horse battery"


def control(world):
    assert len({spelling.casefold() for spelling in SPELLINGS}) == len(SPELLINGS)  # to a careless check they all differ


def attack(world):
    service = world.small("spellings")
    ada = service.register("Ada", WORD, "green-tree")
    for n, spelling in enumerate(SPELLINGS):
        with pytest.raises(NotAllowed):
            service.register(spelling, "another horse", "green-tree", f"192.0.2.{n}")
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in(spelling, "another horse", f"192.0.2.{n}")
        assert service.user_of(service.sign_in(spelling, WORD, f"192.0.2.{n}")) == ada
    with pytest.raises(NotAllowed):
        service.register("Stra\u00dfe", WORD, "green-tree") and service.register("STRASSE", WORD, "green-tree")
    service.stop()
