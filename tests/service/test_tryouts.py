"""Who may try how much, and whose turn it is: by seconds, by household, and those outside in turn with the class."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from grader.errors import NotAllowed
from grader.jobs.tryouts import LONGEST_SOURCE, MOST_WAITING, TryoutRequest
from grader.service import Service
from grader.service.limits import in_memory
from grader.service.tryouts import TryoutService
from grader.store.records import User
from tests.service.conftest import Clock
from tests.service.test_visitors import visit

HOME = "192.0.2.1"


def test_members_visitors_and_guests_may_try(service: Service, person: Callable[..., User]) -> None:
    """Nobody needs an account, and nothing is stored."""
    visitor, _ = visit(service)
    for user in (person("Ada"), visitor, None):
        assert service.tryouts.run(user, HOME, asked("small")).result(20) == "small"
        assert user is None or service.attempts(user) == []


def test_what_is_no_tryout_is_refused(service: Service) -> None:
    """An exercise that is not there, and a source that fits into no message."""
    with pytest.raises(NotAllowed, match="no exercise called"):
        service.tryouts.run(None, HOME, TryoutRequest("../etc", "x = 1"))
    with pytest.raises(NotAllowed, match="at most 64000 characters"):
        service.tryouts.run(None, HOME, TryoutRequest("softmax", "#" * (LONGEST_SOURCE + 1)))


class Runner:
    """Runs tryouts for as long as the test says; the clock goes on meanwhile."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.running = clock, dict[str, Future[str]]()
        self.begun: list[str] = []

    def try_out(self, request: TryoutRequest) -> Future[str]:
        self.begun.append(request.example)
        self.running[request.example] = Future()
        return self.running[request.example]

    def end(self, seconds: float = 0.0) -> None:
        self.clock.now += seconds
        self.running.pop(next(iter(self.running))).set_result("{}")


def asked(name: str) -> TryoutRequest:
    return TryoutRequest("softmax", "x = 1", example=name)


def room(runner: Runner, slots: int = 1) -> TryoutService:
    return TryoutService(["softmax"], runner, lambda: slots, in_memory(runner.clock), clock=runner.clock)


def test_one_person_tries_one_thing_at_a_time(person: Callable[..., User], clock: Clock) -> None:
    """The next one may begin once the last one is over, however it ended."""
    runner, ada = Runner(clock), person("Ada")
    tries = room(runner)
    tries.run(ada, HOME, asked("first"))
    with pytest.raises(NotAllowed, match="still running"):
        tries.run(ada, HOME, asked("second"))
    runner.end()
    tries.run(ada, HOME, asked("third"))

    assert runner.begun == ["first", "third"]


def test_all_outside_take_turns_with_the_class(person: Callable[..., User], clock: Clock) -> None:
    """A guest has more addresses than anybody can count: each is a newcomer, and none is before the next member."""
    runner = Runner(clock)
    tries = room(runner)
    for n in range(3):
        tries.run(None, f"198.51.100.{n}", asked(f"guest {n}"))
    runner.end(4.0)
    tries.run(person("Ada"), HOME, asked("member"))
    runner.end(4.0)

    assert runner.begun == ["guest 0", "guest 1", "member"]


def test_seconds_are_what_is_counted(person: Callable[..., User], clock: Clock) -> None:
    """Many short tries cost as little as they take, a few long ones as much; a while later it goes on."""
    runner, ada, eve = Runner(clock), person("Ada"), person("Eve")
    tries = room(runner)
    for n in range(100):
        tries.run(ada, HOME, asked(f"short {n}"))
        runner.end()
    for n in range(14):
        tries.run(eve, HOME, asked(f"long {n}"))
        runner.end(8.0)
    with pytest.raises(NotAllowed, match="Too many seconds were used"):
        tries.run(eve, HOME, asked("long"))
    tries.run(ada, HOME, asked("another"))
    runner.end()
    clock.now += 120
    tries.run(eve, HOME, asked("again"))


def test_where_there_is_no_room_the_longest_line_gives_way(clock: Clock) -> None:
    """Whoever fills it is told to come back; somebody else gets in."""
    runner = Runner(clock)
    tries = room(runner)
    flood = [tries.run(None, HOME, asked(f"guest {n}")) for n in range(MOST_WAITING + 1)]
    with pytest.raises(NotAllowed, match="Many people are trying"):
        tries.run(None, HOME, asked("one more"))
    tries.run(None, "203.0.113.9", asked("somebody else"))

    assert isinstance(flood[-1].exception(0), NotAllowed)
    assert not any(one.done() for one in flood[:-1])
