"""Whoever uses up a limit must not keep an honest person out: each limiter that there is, attacked and then visited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from grader.errors import NotAllowed
from grader.jobs.tryouts import TryoutRequest
from grader.pages.plain import Refusal
from grader.pages.request_limits import RequestLimiter, Who
from grader.service import Service
from grader.service.limits import Buckets
from grader.store.records import User
from tests.service.conftest import Clock

PASSWORD, CODE = "correct horse", "green-tree"
SHARED = "192.0.2.1"  # the attacker sits behind the same address as the class
HOUSEHOLD = [f"2001:db8:0:1::{n:x}" for n in range(1, 300)]


@dataclass
class Place:
    """A service and a crowd, with Ada, who is honest, and Eve, who has an account too."""

    service: Service
    crowd: RequestLimiter
    ada: User
    eve: User
    mark: str  # of a browser in which Ada has been signed in

    def guess(self, name: str, address: str = SHARED, mark: str | None = None) -> None:
        with suppress(NotAllowed):
            self.service.sign_in(name, "a wrong password", address, mark)

    def enter(self, address: str = SHARED, mark: str | None = None) -> None:
        assert self.service.user_of(self.service.sign_in("Ada", PASSWORD, address, mark)) == self.ada

    def register(self, name: str = "Newcomer", address: str = SHARED) -> None:
        user = self.service.register(name, PASSWORD, CODE, address)
        assert self.service.user_of(self.service.begin_session(user)) == user


@pytest.fixture
def place(service: Service, person: Callable[..., User], clock: Clock) -> Place:
    ada, eve = person("Ada"), person("Eve")
    return Place(service, RequestLimiter(clock=clock), ada, eve, service.mark(ada))


def wrong_codes(place: Place) -> None:
    for n in range(400):
        with suppress(NotAllowed):
            place.service.register(f"Guess {n}", PASSWORD, f"code {n}", SHARED)


def accounts_that_fail(place: Place) -> None:
    """Register with the right code, and with a name or a password that is refused."""
    for n in range(700):
        with suppress(NotAllowed):
            place.service.register("Ada" if n % 2 else "Short", PASSWORD if n % 2 else "x", CODE, SHARED)


def many_names(place: Place) -> None:
    for n in range(300):
        place.guess(f"nobody {n}")


def many_names_of_one_household(place: Place) -> None:
    for n, address in enumerate(HOUSEHOLD):
        place.guess(f"nobody {n}", address)


def one_name(place: Place) -> None:
    for _ in range(100):
        place.guess("Ada")


def one_name_from_everywhere(place: Place) -> None:
    for n in range(200):
        place.guess("Ada", f"198.51.100.{n}")


def one_name_from_one_household(place: Place) -> None:
    for address in HOUSEHOLD:
        place.guess("Ada", address)


def marks_that_are_none(place: Place) -> None:
    for n in range(100):
        place.guess("Ada", mark=f"{n}.{n}" if n % 2 else place.service.mark(place.eve))


def sessions(place: Place) -> None:
    for _ in range(200):
        with suppress(NotAllowed):
            place.service.sign_in("Eve", PASSWORD, SHARED)
        place.guess("Ada", "203.0.113.9")


def submissions(place: Place) -> None:
    for n in range(150):
        with suppress(NotAllowed):
            place.service.cancel(place.eve, place.service.submit(place.eve, "softmax", "#" * 200_000 if n % 2 else "x"))


def requests(place: Place) -> None:
    for _ in range(5000):
        for who in (Who(place.eve.id, SHARED), Who(None, "203.0.113.9")):
            with suppress(Refusal):
                place.crowd.admit(who)


def requests_of_guests(place: Place) -> None:
    for _ in range(5000):
        with suppress(Refusal):
            place.crowd.admit(Who(None, SHARED))


def visitors(place: Place) -> None:
    for _ in range(450):
        with suppress(NotAllowed):
            place.service.accounts._limits.visitor(SHARED)


def visitors_from_everywhere(place: Place) -> None:
    for n in range(2100):
        with suppress(NotAllowed):
            place.service.accounts._limits.visitor(f"10.{n % 30}.{n // 30}.1")


def accounts_outside(place: Place) -> None:
    for _ in range(150):
        with suppress(NotAllowed):
            place.service.accounts._limits.account(SHARED, in_class=False)


def try_something(place: Place, user: User | None) -> None:
    place.service.tryouts.run(user, SHARED, TryoutRequest("softmax", "x = 1")).result(20)


def tryouts(place: Place) -> None:
    for user in (place.eve, None):
        with suppress(NotAllowed):
            for _ in range(2000):
                try_something(place, user)


def renames(place: Place) -> None:
    eve = place.eve
    for n in range(12):
        with suppress(NotAllowed):
            eve = place.service.own_account.rename(eve, f"Evelyn {'abcdefghijkl'[n]}", PASSWORD, SHARED)


def rename_ada(place: Place) -> None:
    assert place.service.own_account.rename(place.ada, "Augusta", PASSWORD, SHARED).id == place.ada.id


@dataclass(frozen=True)
class Siege:
    """What the attacker does, which limiters that uses up, and how the honest person gets through afterwards."""

    attack: Callable[[Place], None]
    limiters: frozenset[str]
    visit: Callable[[Place], None]


def siege(attack: Callable[[Place], None], *limiters: str, visit: Callable[[Place], None]) -> Siege:
    return Siege(attack, frozenset(limiters), visit)


SIEGES = [
    siege(wrong_codes, "EntryLimits._wrong_codes", "EntryLimits._warnings", visit=lambda place: place.register()),
    siege(accounts_that_fail, visit=lambda place: place.register()),
    siege(many_names, "EntryLimits._by_address", visit=lambda place: place.enter()),
    siege(many_names, "EntryLimits._by_address", visit=lambda place: place.register()),
    siege(many_names_of_one_household, "EntryLimits._by_address", visit=lambda place: place.enter(HOUSEHOLD[0])),
    siege(one_name, "EntryLimits._by_pair", visit=lambda place: place.enter(mark=place.mark)),
    siege(one_name, "EntryLimits._by_pair", visit=lambda place: place.enter("198.51.100.7")),
    siege(one_name_from_everywhere, "EntryLimits._by_name", visit=lambda place: place.enter(mark=place.mark)),
    siege(one_name_from_one_household, "EntryLimits._by_pair", visit=lambda place: place.enter()),
    siege(marks_that_are_none, "EntryLimits._by_pair", visit=lambda place: place.enter(mark=place.mark)),
    siege(visitors, "EntryLimits._visitors", visit=lambda place: place.register()),
    siege(accounts_outside, "EntryLimits._outside", visit=lambda place: place.register()),
    siege(sessions, "EntryLimits._sessions", visit=lambda place: place.enter()),
    siege(submissions, visit=lambda place: place.service.submit(place.ada, "softmax", "x") and None),
    siege(renames, "OwnAccount._renames", visit=rename_ada),
    siege(
        tryouts,
        "TryoutService._members",
        "TryoutService._homes",
        "TryoutService._lately",
        visit=lambda place: try_something(place, place.ada),
    ),
    siege(requests, "RequestLimiter._pace", visit=lambda place: place.crowd.admit(Who(place.ada.id, SHARED))),
    siege(requests, "RequestLimiter._pace", visit=lambda place: place.crowd.admit(Who(None, SHARED))),
    siege(requests_of_guests, "RequestLimiter._pace", visit=lambda place: place.crowd.admit(Who(place.ada.id, SHARED))),
]


def full_of_accounts(place: Place) -> None:
    """Make as many accounts with the right code as a very large class; only counted here, as storing takes long."""
    for _ in range(600):
        place.service.accounts._limits.account(SHARED)


def every_first_try(place: Place) -> None:
    many_names(place)
    one_name(place)


def own_browser(place: Place) -> None:
    for _ in range(20):
        place.guess("Ada", mark=place.mark)


# Where somebody honest does have to wait, and why that is left so.
KNOWN = [
    # A password is chosen by a person, so no more than a few wrong ones may be tried for each name, and a browser that
    # nobody has been signed in with is not told from the guesser's.
    siege(one_name, "EntryLimits._by_pair", visit=lambda place: place.enter()),
    siege(every_first_try, "EntryLimits._first_tries", visit=lambda place: place.enter()),
    siege(one_name_from_everywhere, "EntryLimits._by_name", visit=lambda place: place.enter("203.0.113.77")),
    # It takes Ada's own browser.
    siege(own_browser, "EntryLimits._by_mark", visit=lambda place: place.enter(mark=place.mark)),
    # These are no wrong tries: somebody who knows the code makes hundreds of accounts, each with a share of the queue.
    siege(full_of_accounts, "EntryLimits._accounts", visit=lambda place: place.register()),
    # Nothing is known of a visitor but the address; who has an account, or registers with a code, is let in.
    siege(visitors, "EntryLimits._visitors", visit=lambda place: place.service.accounts.visit(SHARED) and None),
    siege(
        visitors_from_everywhere,
        "EntryLimits._all_visitors",
        visit=lambda place: place.service.accounts.visit("203.0.113.7") and None,
    ),
    siege(
        accounts_outside,
        "EntryLimits._outside",
        visit=lambda place: place.service.register("Newcomer", PASSWORD, "", SHARED) and None,
    ),
    # A flood is refused before anything of it is read, so nothing is known of a guest but the address.
    siege(requests_of_guests, "RequestLimiter._pace", visit=lambda place: place.crowd.admit(Who(None, SHARED))),
]


def limiters(start: Any, seen: set[int]) -> Iterator[tuple[str, Buckets]]:
    """Yield each limiter below an object of ours, by the class that has it and the attribute."""
    if id(start) in seen or not type(start).__module__.startswith("grader."):
        return
    seen.add(id(start))
    slots = {name: getattr(start, name, None) for name in getattr(start, "__slots__", ())}
    for name, value in {**getattr(start, "__dict__", {}), **slots}.items():
        for one in value.values() if isinstance(value, dict) else [value]:
            if isinstance(one, Buckets):
                yield f"{type(start).__name__}.{name}", one
            else:
                yield from limiters(one, seen)


def used_up(place: Place) -> set[str]:
    found = [*limiters(place.service, set()), *limiters(place.crowd, set())]
    return {name for name, bucket in found if any(bucket.wait(key) > 0 for key in list(bucket._spent))}


@pytest.mark.parametrize("one", SIEGES, ids=lambda one: f"{one.attack.__name__}-{SIEGES.index(one)}")
def test_nobody_is_kept_out_by_what_others_use_up(one: Siege, place: Place) -> None:
    """The attack does use up what it is meant to, and the honest person gets through."""
    one.attack(place)

    assert one.limiters <= used_up(place)
    one.visit(place)


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: one.attack.__name__)
def test_where_somebody_has_to_wait_is_known(one: Siege, place: Place, clock: Clock) -> None:
    """These stay, each for the reason beside it; and none lasts longer than an hour after the attack."""
    one.attack(place)

    assert one.limiters <= used_up(place)
    with pytest.raises((NotAllowed, Refusal)):
        one.visit(place)
    clock.now += 3600
    one.visit(place)


def test_every_limiter_is_attacked(place: Place) -> None:
    """A new limiter needs a siege, or its reason among those that are known."""
    found = {name for start in (place.service, place.crowd) for name, _ in limiters(start, set())}
    attacked = {name for one in (*SIEGES, *KNOWN) for name in one.limiters}

    assert found == attacked


def test_a_large_class_registers_from_one_room_beside_a_guesser(place: Place, clock: Clock) -> None:
    """Three hundred within five minutes, while one among them tries codes, names and passwords all the time."""
    for n in range(300):
        clock.now += 1
        for m in range(3):
            with suppress(NotAllowed):
                place.service.register(f"Guess {n}", PASSWORD, "a wrong code", SHARED)
            place.guess(f"nobody {n} {m}")
        place.register(f"Student number {n}")
    place.enter()


def test_a_clock_that_is_set_back_keeps_nobody_out(clock: Clock) -> None:
    """Time that runs backwards adds nothing to what is missing."""
    buckets = Buckets(2, 8.0, clock=clock)
    buckets.take("a")
    clock.now -= 3600

    assert buckets.take("a") == 0.0
