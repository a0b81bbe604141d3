"""Keep a class from signing in by filling the queue in which passwords wait: from many addresses, and by wrong codes.

Two addresses with 64 wrong tries each, or 128 wrong class codes, took all places, and nobody else got in.

Expected: known browsers and right codes have places of their own, strangers take turns by address, wrong codes none
Stopped by: passwords (two parts, turns by address and person, what needs no hash does not wait)
Own: yes
"""

import asyncio
import threading
from collections import Counter

import httpx
from argon2 import PasswordHasher

from grader.pages.request_limits import Busy, Guest, Passwords
from grader.settings import Settings
from tests.pages.conftest import CODE, PASSWORD, in_a_loop, made

FLOOD = 1500
CLASS = 300


class Slow(PasswordHasher):
    """A hasher that waits until it is told to go on, and counts what it does."""

    def __init__(self):
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.go_on = threading.Event()
        self.done = 0

    def verify(self, hash, password):
        self.go_on.wait(30)
        self.done += 1
        return super().verify(hash, password)


async def stays():
    """Nobody goes away."""
    return False


async def turns(arrivals, most):
    """In which order guests are served who arrive all at once; `Busy` for those who are not."""
    queue, order = Passwords(most=most), []
    gate = threading.Event()
    first = asyncio.create_task(queue.run(Guest("first"), gate.wait, stays))
    await asyncio.sleep(0)
    waiting = [
        asyncio.create_task(queue.run(guest, lambda key=guest.key: order.append(key), stays)) for guest in arrivals
    ]
    await asyncio.sleep(0)
    gate.set()
    ended = await asyncio.gather(first, *waiting, return_exceptions=True)
    return order, Counter(guest.key for guest, end in zip(arrivals, ended[1:], strict=True) if isinstance(end, Busy))


def control(world):
    """Among strangers alone, each at an address of their own, there is no room for one more: that is noticed."""
    _, refused = in_a_loop(turns([Guest("attacker"), Guest("honest")], 1))
    assert refused == {"honest": 1}


def attack(world):
    flood = [Guest(f"10.0.{n // 250}.{n % 250}") for n in range(FLOOD)]
    known = [Guest(f"person {n}", True, 4) for n in range(CLASS)]
    order, refused = in_a_loop(turns([*flood, *known], 1024))
    assert not any(guest.key in refused for guest in known)
    places = [order.index(guest.key) for guest in known]
    assert max(places) <= 2 * CLASS  # every other turn is theirs

    two = [Guest(f"attacker {n % 2}") for n in range(800)]
    order, refused = in_a_loop(turns([*two, *(Guest(f"10.1.0.{n}") for n in range(250))], 802))
    assert set(refused) <= {"attacker 0", "attacker 1"}  # the longest line gives way
    assert max(order.index(f"10.1.0.{n}") for n in range(250)) < 3 * 250

    one = [Guest("the class", True, 400) for _ in range(CLASS)]
    order, refused = in_a_loop(turns(one, 1024))
    assert (len(order), refused) == (CLASS, Counter())
    in_a_loop(asyncio.wait_for(beside_a_storm(world), 60))


async def beside_a_storm(world):
    """Wrong codes are answered while the one thread is busy; a right one and a known browser get through after it."""
    service, hasher = world.small("out of the queue"), Slow()
    ada = service.add_user("Ada", PASSWORD, world.ada.user.role)
    service.accounts._hasher = hasher
    app = await made(service, Settings())

    def form(path, **fields):
        return client.post(path, data={"password": PASSWORD, **fields})

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gym.example", timeout=60) as client:
        storm = [asyncio.create_task(form("/sign-in", name=f"nobody {n}")) for n in range(30)]
        await asyncio.sleep(0)
        wrong = await asyncio.gather(*(form("/register", name=f"Guess {n}", class_code="wrong") for n in range(20)))
        assert [answer.status_code for answer in wrong] == [403] * 20
        assert hasher.done == 0
        client.cookies.set("attention_gym_browser", service.mark(ada))
        right = asyncio.create_task(form("/register", name="New Comer", class_code=CODE))
        own = asyncio.create_task(form("/sign-in", name="Ada"))
        await asyncio.sleep(0)
        hasher.go_on.set()
        assert [(await one).status_code for one in (right, own)] == [303, 303]
        assert not all(task.done() for task in storm)
        await asyncio.gather(*storm)
    service.stop()
