"""Take the graders' time by what costs no attempt and needs no account: try without pause, slowly, and from many addresses.

Expected: all outside of a class take turns with its members, a try ends after seconds, and a member's grading goes on beside it
Stopped by: limits on tryouts (seconds of a person, of a household; turns), a thread of their own beside the workers, limits of the box
Own: yes
"""

import json

import pytest

from grader.errors import NotAllowed
from grader.jobs.tryouts import MOST_WAITING
from tests.service.conftest import Clock
from tests.service.test_tryouts import Runner, asked, room

RIGHT = "import torch\n\n\ndef softmax(x, dim=-1):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
SLOW = "def softmax(x, dim=-1):\n    while True:\n        pass\n"
BOMB = "def softmax(x, dim=-1):\n    return x.repeat(1 << 40)\n"


def ask(client, source, **more):
    body = json.dumps({"source": source, **more})
    return client.post("/try?ex=softmax", content=body, headers={"Content-Type": "text/plain"})


def control(world):
    assert ask(world.client(), RIGHT).json()["right"] is True


def attack(world):
    runner = Runner(Clock())
    tries = room(runner)
    for n in range(MOST_WAITING + 1):
        tries.run(None, f"198.51.100.{n}", asked(f"guest {n}"))
    with pytest.raises(NotAllowed, match="Many people"):
        tries.run(None, "203.0.113.1", asked("one more"))
    tries.run(world.ada.user, "203.0.113.2", asked("member"))
    runner.end(4.0)
    assert runner.begun == ["guest 0", "member"]

    guest = world.client()
    assert "stopped after 4 seconds" in ask(guest, SLOW).json()["message"]
    assert ask(guest, BOMB).json()["right"] is False
    assert "at most 64000 characters" in ask(guest, "#" * 64_001).json()["error"]
    assert "at most 512 numbers" in ask(guest, RIGHT, typed={"x": "[" + "1," * 1000 + "]"}).json()["error"]
    assert ask(guest, RIGHT, typed={"x": "[" * 7000}).json()["error"].startswith("`x`")
    assert ask(guest, RIGHT, seed=2**31).status_code == 400
