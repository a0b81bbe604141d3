"""What is to be practised again, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from grader.service import Service
from grader.service.student import DAY, Due, due
from grader.store.records import User
from tests.service.conftest import Clock
from tests.service.test_service import follow, graded

Person = Callable[..., User]


@pytest.mark.parametrize(
    ("days", "pause"),
    [
        ([0], 14),
        ([0, 5], 14),
        ([0, 13.9], 14),
        ([0, 14], 28),
        ([0, 20, 47], 28),
        ([0, 20, 48], 56),
        ([0, 1, 16, 50], 56),
    ],
)
def test_each_repetition_doubles_the_pause(days: list[float], pause: float) -> None:
    """After the last time; what came before it was due is no repetition."""
    times = [day * DAY for day in days]
    (found,) = due({"e": times}, 1000 * DAY)

    assert found == Due("e", times[-1], times[-1] + pause * DAY)


def test_what_is_due_for_longest_comes_first() -> None:
    """And what is not due yet does not come at all."""
    solved = {"new": [9 * DAY], "old": [0.0], "older": [-5 * DAY]}

    assert [one.exercise for one in due(solved, 14 * DAY)] == ["older", "old"]


def test_only_full_marks_of_ones_own_are_practised_again(service: Service, person: Person, clock: Clock) -> None:
    """Those of others do not count; a visitor, who is gone before it is due, is asked nothing."""
    ada, bob = person("Ada"), person("Bob")
    service.start()
    graded(service, ada)
    visitor = service.user_of(service.accounts.visit("192.0.2.1"))
    assert visitor is not None
    asyncio.run(follow(service, visitor, service.submit(visitor, "softmax", "x = 1")))
    assert service.trail.practice(ada) == []
    clock.now += 14 * DAY

    assert [one.exercise for one in service.trail.practice(ada)] == ["softmax"]
    assert service.trail.practice(bob) == service.trail.practice(visitor) == []
