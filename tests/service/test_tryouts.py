"""Who may try how much: one at a time each, so many in a while, and half of the room for those outside of a class."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.jobs.tryouts import LONGEST_SOURCE, MOST_WAITING, TryoutRequest
from grader.service import Service
from grader.service.limits import in_memory
from grader.service.tryouts import TryoutLimits
from grader.store.records import User
from tests.service.conftest import Clock
from tests.service.test_visitors import visit

HOME = "192.0.2.1"


def test_members_visitors_and_guests_may_try(service: Service, person: Callable[..., User]) -> None:
    """Nobody needs an account, and nothing is stored."""
    visitor, _ = visit(service)
    for user in (person("Ada"), visitor, None):
        asked = TryoutRequest("softmax", "x = 1", example="small")
        assert service.tryouts.run(user, HOME, asked).result(20) == "small"
        assert user is None or service.attempts(user) == []


def test_what_is_no_tryout_is_refused(service: Service) -> None:
    """An exercise that is not there, and a source that fits into no message."""
    with pytest.raises(NotAllowed, match="no exercise called"):
        service.tryouts.run(None, HOME, TryoutRequest("../etc", "x = 1"))
    with pytest.raises(NotAllowed, match="at most 64000 characters"):
        service.tryouts.run(None, HOME, TryoutRequest("softmax", "#" * (LONGEST_SOURCE + 1)))


def test_one_person_tries_one_thing_at_a_time(person: Callable[..., User], clock: Clock) -> None:
    """The next one may begin once the last one is over, however it ended."""
    limits, ada = TryoutLimits(2, in_memory(clock)), person("Ada")
    running = limits.take(ada, HOME)
    with pytest.raises(NotAllowed, match="still running"):
        limits.take(ada, HOME)
    running.close()
    limits.take(ada, HOME)


def test_those_outside_of_a_class_leave_half_of_the_room(person: Callable[..., User], clock: Clock) -> None:
    """Guests and visitors cost nothing to make; a member gets in beside however many of them."""
    limits = TryoutLimits(1, in_memory(clock))
    running = [limits.take(None, f"198.51.100.{n}") for n in range(MOST_WAITING // 2)]
    with pytest.raises(NotAllowed, match="Many people are trying"):
        limits.take(None, "203.0.113.9")
    limits.take(person("Ada"), HOME)
    running[0].close()
    limits.take(None, "203.0.113.9")


def test_all_together_leave_the_grading_its_time(person: Callable[..., User], clock: Clock) -> None:
    """Members are counted, too."""
    limits = TryoutLimits(1, in_memory(clock))
    for n in range(MOST_WAITING):
        limits.take(person(f"Member {n}"), HOME)
    with pytest.raises(NotAllowed, match="Many people are trying"):
        limits.take(person("Late"), HOME)


def test_too_many_in_a_while_have_to_wait(person: Callable[..., User], clock: Clock) -> None:
    """By person, and by address for those who are not signed in; a while later it goes on."""
    limits, ada = TryoutLimits(1, in_memory(clock)), person("Ada")
    for _ in range(30):
        limits.take(ada, HOME).close()
    with pytest.raises(NotAllowed, match="Too many tries"):
        limits.take(ada, HOME)
    clock.now += 60
    limits.take(ada, HOME).close()
    for _ in range(300):
        limits.take(None, HOME).close()
    with pytest.raises(NotAllowed, match="Too many tries"):
        limits.take(None, HOME)
    limits.take(None, "203.0.113.9").close()
