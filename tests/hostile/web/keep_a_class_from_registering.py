"""Keep a whole class out: use up every limit of the address that it shares, before it registers and signs in.

Expected: whoever knows the code registers, and whoever knows a password signs in
Stopped by: rate limit (refuses no right code, and leaves each name its first tries at an address)
Own: yes
"""

from contextlib import suppress

import pytest

from grader.errors import NotAllowed
from grader.service.limits import Buckets
from tests.service.conftest import Clock

WORD = "correct horse battery"
SHARED = "192.0.2.1"


def control(world):
    plain = Buckets(30, 10.0, clock=Clock())  # what counts before it has looked cannot tell the class from the guesser
    assert all(plain.take(SHARED) == 0 for _ in range(30))
    assert plain.take(SHARED) > 0


def attack(world):
    service = world.small("class")
    service.register("Ada", WORD, "green-tree", "198.51.100.1")
    for n in range(700):
        with suppress(NotAllowed):
            service.register(f"Eve {n}", WORD, f"code-{n}", SHARED)
        with suppress(NotAllowed):
            service.register("Ada" if n % 2 else "Eve", WORD if n % 2 else "short", "green-tree", SHARED)
    for n in range(300):
        with pytest.raises(NotAllowed):
            service.sign_in(f"nobody {n}", "a wrong password", SHARED)
    for n in range(30):
        new = service.register(f"Student {n}", WORD, "green-tree", SHARED)
        assert service.user_of(service.begin_session(new)) == new
    assert service.sign_in("Ada", WORD, SHARED)
    service.stop()
    page = world.client()
    for n in range(40):
        form = {"name": "Nobody", "password": WORD, "class_code": f"wrong {n}"}
        assert page.post("/register", data=form).status_code == 403
    form = {"name": "Nina Newcomer", "password": WORD, "class_code": world.service.class_code}
    assert page.post("/register", data=form).status_code == 303
