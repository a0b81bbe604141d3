"""Who may ask for how much."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request

from grader.errors import NotAllowed
from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.exercise_routes import ExerciseRoutes
from grader.pages.plain import Refusal
from grader.pages.request_limits import (
    EACH_AT_ONCE,
    GUESTS,
    MOST_WATCHED,
    PERSON,
    THREADS,
    RequestLimiter,
    Who,
    watched_runs,
)
from grader.store.records import SubmissionId
from tests.service.conftest import Clock

ADA, EVE = Who(1, "192.0.2.1"), Who(2, "192.0.2.1")


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still until it is turned."""
    return Clock()


@pytest.fixture
def crowd(clock: Clock) -> RequestLimiter:
    """Give a crowd."""
    return RequestLimiter(clock=clock)


def test_a_flood_is_slowed_down_and_nobody_else(crowd: RequestLimiter, clock: Clock) -> None:
    """A person's requests are counted for them alone, and come again with time."""
    for _ in range(PERSON.burst):
        crowd.admit(ADA)
    with pytest.raises(Refusal, check=lambda refusal: refusal.status == 429):
        crowd.admit(ADA)
    crowd.admit(EVE)
    clock.now += 1
    crowd.admit(ADA)


def test_guests_are_counted_by_network() -> None:
    """One household has more long addresses than anybody can count; a short one is one."""
    addresses = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2", "unix"]

    assert len({Who(None, address).key for address in addresses}) == 5
    assert Who(None, "unix").share is GUESTS


def test_nobody_takes_all_the_seats() -> None:
    """A person watches so many runs at once; another person's are not counted with them, and seats come free."""
    seats = watched_runs()
    with ExitStack() as watched:
        for _ in range(MOST_WATCHED):
            watched.enter_context(seats(1))
        with pytest.raises(NotAllowed, match="too many places"), seats(1):
            pass
        watched.enter_context(seats(2))
    watched.enter_context(seats(1))


def test_one_persons_slow_requests_leave_threads_to_others(crowd: RequestLimiter) -> None:
    """However many a person sends, the next one of somebody else is worked on at once; then the others of theirs."""

    async def tried() -> tuple[int, bool, int]:
        stuck, working = asyncio.Event(), []

        async def ask(who: Who) -> None:
            async with crowd.turn(who.key):
                working.append(who)
                await (stuck.wait() if who is ADA else asyncio.sleep(0))

        slow = [asyncio.create_task(ask(ADA)) for _ in range(5 * THREADS)]
        await asyncio.sleep(0)
        await ask(EVE)
        before = working.count(ADA), EVE in working
        stuck.set()
        await asyncio.gather(*slow)
        return *before, working.count(ADA)

    assert asyncio.run(tried()) == (EACH_AT_ONCE, True, 5 * THREADS)
    assert EACH_AT_ONCE < THREADS
    assert crowd._places == {}


def request_of(address: str) -> Request:
    """Return a request to try something."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps({"source": "x = 1"}).encode(), "more_body": False}

    return Request({"type": "http", "client": (address, 1), "headers": [], "query_string": b""}, receive)


async def all_of(parts: AsyncIterator[Any]) -> None:
    async for _ in parts:
        pass


ASKING: dict[str, Callable[[ExerciseRoutes, Request], Awaitable[Any]]] = {
    "try": lambda routes, request: routes.run_try(request),
    "run": lambda routes, request: all_of(routes._lines(request, SubmissionId("01"))),
}


@pytest.mark.parametrize("kind", ASKING)
def test_what_waits_elsewhere_takes_turns_for_the_threads_that_ask_the_store(kind: str) -> None:
    """A try stands in a queue of its own, and the turn of a stream ends as it begins: both had all threads at once."""
    inside, most, lock = 0, 0, threading.Lock()

    def refused(*_: object) -> None:
        nonlocal inside, most
        with lock:
            inside, most = inside + 1, max(most, inside + 1)
        time.sleep(0.005)
        with lock:
            inside -= 1
        raise NotAllowed("no")

    service = SimpleNamespace(tryouts=SimpleNamespace(run=None))
    handlers = SimpleNamespace(identity=SimpleNamespace(user=refused), service=service)

    async def story() -> None:
        routes = ExerciseRoutes(cast(ExerciseHandlers, handlers))
        await asyncio.gather(*(ASKING[kind](routes, request_of("192.0.2.1")) for _ in range(20)))

    asyncio.run(story())

    assert most == EACH_AT_ONCE
