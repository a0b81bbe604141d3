"""Who may ask for how much."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from grader.errors import NotAllowed
from grader.pages.refusal import Refusal
from grader.pages.request_limits import GUESTS, MOST_WATCHED, PERSON, RequestLimiter, StreamLimiter, Who
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
    seats = StreamLimiter()
    with ExitStack() as watched:
        for _ in range(MOST_WATCHED):
            watched.enter_context(seats.taken(1))
        with pytest.raises(NotAllowed, match="too many places"), seats.taken(1):
            pass
        watched.enter_context(seats.taken(2))
    watched.enter_context(seats.taken(1))
