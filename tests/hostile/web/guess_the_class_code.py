"""Guess the class code: many tries, near misses, other spellings, and what might be taken for it by accident.

Expected: none is taken, all read the same, and the log tells of the guessing without telling the code
Stopped by: the length of the code (59 bits), comparison in constant time
Own: yes
"""

import logging

import pytest

from grader.errors import NotAllowed
from grader.store import keys

WORD = "correct horse battery"
GUESSES_A_SECOND = 1000
TERM = 26 * 7 * 24 * 3600  # half a year, in seconds


def control(world):
    service = world.small("code control")
    assert service.register("Ada", WORD, "green-tree", "192.0.2.1")
    service.stop()


def attack(world):
    service = world.small("code")
    told = []
    log = logging.getLogger("grader.service.limits")
    log.addFilter(lambda record: told.append(record.getMessage()))
    codes = ["GREEN-TREES", "green-tree\0", "green", "\ud800", "green-tree' OR '1'='1", *map(str, range(200))]
    said = set()
    for code in codes:
        with pytest.raises(NotAllowed) as refused:
            service.register("Eve", WORD, code, "192.0.2.66")
        said.add(str(refused.value))
    log.filters.clear()
    assert len(said) == 1
    assert len(told) == 1
    assert "green-tree" not in told[0]
    service.stop()
    drawn = keys.class_code(world.folder)
    assert len(drawn) == 14
    assert len(keys.ALPHABET) ** 12 > 1e7 * GUESSES_A_SECOND * TERM
