"""Keep a victim out: guess wrongly in their name until they may not try any more themselves.

Expected: in a browser of theirs they still get in
Stopped by: rate limit (browsers that were signed in are counted on their own)
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from tests.pages.conftest import PASSWORD

WORD = "correct horse battery"


def lock(service):
    for n in range(300):
        with pytest.raises(NotAllowed):
            service.sign_in("Ada", "a wrong password", f"198.51.100.{n % 250}")


def control(world):
    service = world.small("lock control")
    service.register("Ada", WORD, "green-tree")
    lock(service)
    with pytest.raises(NotAllowed, match="Too many"):  # without the mark she is out, as by any plain limit
        service.sign_in("Ada", WORD, "192.0.2.1")
    service.stop()


def attack(world):
    service = world.small("lock")
    ada = service.register("Ada", WORD, "green-tree")
    mark = service.mark(ada)
    lock(service)
    assert service.user_of(service.sign_in("Ada", WORD, "192.0.2.1", mark)) == ada
    for forged in (mark[:-1], mark.replace(".", ".a"), "." + mark.split(".")[1], "", ".", "a.b"):
        with pytest.raises(NotAllowed, match="Too many"):
            service.sign_in("Ada", WORD, "192.0.2.1", forged)
    service.stop()
    browser = world.client()
    who = world.person("Lou Locked")
    browser.post("/sign-in", data={"name": "Lou Locked", "password": PASSWORD})
    browser.post("/sign-out")
    for n in range(12):
        world.client(address=f"127.0.0.{20 + n % 3}").post("/sign-in", data={"name": "Lou Locked", "password": "wrong word"})
    assert browser.post("/sign-in", data={"name": "Lou Locked", "password": PASSWORD}).status_code == 303
    assert who.user.name == "Lou Locked"
