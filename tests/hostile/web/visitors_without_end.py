"""Be many visitors: fill the disk and the queue without an account, and keep a visitor's session that somebody registers in.

Expected: an address has to wait after four hundred, all visitors together have one turn in the queue, and registering ends the planted session
Stopped by: rate limit (visitors by address), queue (one turn for all outside of a class), session (ends at registering)
Own: yes
"""

import pytest

from grader.errors import NotAllowed
from grader.service.limits import in_memory
from grader.service.limits import EntryLimits
from tests.pages.conftest import PASSWORD
from tests.service.conftest import Clock


def control(world):
    browser = world.client()
    assert browser.post("/visit").status_code == 204
    assert world.service.user_of(browser.cookies["attention_gym"]).visitor


def attack(world):
    arrivals = EntryLimits(in_memory(Clock()))
    for _ in range(400):
        arrivals.visitor("192.0.2.1")
    with pytest.raises(NotAllowed, match="visitors began at your address"):
        arrivals.visitor("192.0.2.1")

    browser = world.client()
    browser.post("/visit")
    planted = browser.cookies["attention_gym"]
    assert browser.post("/visit").cookies.get("attention_gym") is None, "one session is enough"
    answer = browser.post("/register", data={"name": "Tess Taken", "password": PASSWORD})
    fresh = answer.cookies["attention_gym"]
    assert world.service.user_of(planted) is None
    assert world.service.user_of(fresh).name == "Tess Taken"
    assert world.client().post("/visit", headers={"Origin": "https://evil.example"}).status_code == 403
    assert browser.get("/teach/").status_code in (302, 303, 401, 403, 404)
