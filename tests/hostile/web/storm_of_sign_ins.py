"""Keep the pages waiting by signing in: each try hashes, which costs a core on purpose.

Expected: one hash at once, behind the pages; of one address no more wait than a class has
Stopped by: passwords (one at a time, lower priority, a queue with an end)
Own: yes
"""

import asyncio
import os
import threading

import httpx
from argon2 import PasswordHasher

from grader.pages.request_limits import EACH, NICENESS
from grader.settings import Settings
from tests.pages.conftest import PASSWORD, in_a_loop, made

STORM = EACH + 20


class Watched(PasswordHasher):
    """A hasher that notes how many hashes are made at once, and how much its thread stands back."""

    def __init__(self):
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.now, self.most, self.niceness = 0, 0, set()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def verify(self, hash, password):
        self.now += 1
        self.most = max(self.most, self.now)
        self.niceness.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        self.begun.set()
        self.go_on.wait(20)
        self.now -= 1
        return super().verify(hash, password)


def control(world):
    hasher = Watched()
    hashed = hasher.hash(b"a")
    threads = [threading.Thread(target=hasher.verify, args=(hashed, b"a")) for _ in range(3)]
    for thread in threads:
        thread.start()
    while hasher.now < 3:
        threads[0].join(0.01)
    hasher.go_on.set()
    for thread in threads:
        thread.join(20)
    assert hasher.most == 3


def attack(world):
    service, hasher = world.small("storm of sign-ins"), Watched()
    service.add_user("Ada", PASSWORD, world.ada.user.role)
    service.accounts._hasher = hasher
    app = in_a_loop(made(service, Settings()))
    answers = in_a_loop(asyncio.wait_for(storm(app, hasher), 60))
    service.stop()
    busy = [answer for answer in answers if answer.status_code == 503]
    assert len(busy) == STORM - EACH - 1  # one is hashed
    assert {(answer.headers["retry-after"], "Many people are signing in" in answer.text) for answer in busy} == {("5", True)}
    assert {answer.status_code for answer in answers} == {303, 403, 503}
    assert hasher.most == 1
    assert min(hasher.niceness) >= NICENESS


async def storm(app, hasher):
    """All at once, the first of them honest; another page is answered meanwhile."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gym.example", timeout=60) as client:
        people = ["Ada", *(f"nobody {n}" for n in range(STORM - 1))]
        sent = [asyncio.create_task(client.post("/sign-in", data={"name": name, "password": PASSWORD})) for name in people]
        await asyncio.to_thread(hasher.begun.wait, 20)
        assert (await client.get("/health")).status_code == 200
        while sum(task.done() for task in sent) < STORM - EACH - 1:
            await asyncio.sleep(0)
        hasher.go_on.set()
        return await asyncio.gather(*sent)
