"""Slows down whoever guesses: a token bucket per key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Protocol

from grader.jobs import shares
from grader.store.records import Role, User
from grader.store.tokens import FULL, Rate, Spent

CROWD = 10_000  # keys; more, and the full buckets are thrown away, the next time once there are twice as many as remain


class Limiter(Protocol):
    """Lets each key do something so many times at once, and once more every so many seconds."""

    def take(self, key: str) -> float:
        """Take a token; return 0, or, if there is none, the seconds until there is one."""
        ...

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        ...

    def give(self, key: str) -> None:
        """Give a token back."""
        ...

    def charge(self, key: str, amount: float) -> None:
        """Take tokens, also those that are not there: what something has cost shows only afterwards."""
        ...


MakeLimiter = Callable[[str, int, float], Limiter]  # by the name of what is counted, the burst and the refill


class Buckets:
    """Lets each key do something `burst` times at once, and once more every `refill` seconds, in this process."""

    def __init__(self, burst: int, refill: float, *, clock: Callable[[], float]) -> None:
        """Start with every bucket full."""
        self._rate = Rate(burst, refill)
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[str, Spent] = {}
        self._crowd = CROWD

    def take(self, key: str, amount: float = 1.0) -> float:
        """Take tokens; return 0, or, if there are too few, the seconds until there are enough.

        More than a bucket holds may be taken from a full one, which then stays empty for as much longer.
        """
        with self._lock:
            before, now = self._spent.get(key, FULL), self._clock()
            if (wait := self._rate.wait(before, now, amount)) == 0:
                self._forget_full(now)
                self._spent[key] = self._rate.without(before, now, amount)
            return wait

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self._lock:
            return self._rate.wait(self._spent.get(key, FULL), self._clock())

    def missing(self, key: str) -> float:
        """Return how many tokens are missing now."""
        with self._lock:
            return self._rate.missing(self._spent.get(key, FULL), self._clock())

    def give(self, key: str) -> None:
        """Give a token back."""
        self.charge(key, -1.0)

    def charge(self, key: str, amount: float) -> None:
        """Take tokens, also those that are not there: what something has cost shows only afterwards."""
        with self._lock:
            before, now = self._spent.get(key, FULL), self._clock()
            self._forget_full(now)
            self._spent[key] = self._rate.without(before, now, amount)

    def _forget_full(self, now: float) -> None:
        if len(self._spent) > self._crowd:
            self._spent = {key: one for key, one in self._spent.items() if self._rate.missing(one, now) > 0}
            self._crowd = max(CROWD, 2 * len(self._spent))


def in_memory(clock: Callable[[], float]) -> MakeLimiter:
    """Return how limits are made that this process keeps for itself."""
    return lambda _name, burst, refill: Buckets(burst, refill, clock=clock)


def plain_address(text: str) -> str:
    """Return an address in the one form in which it is counted; nothing for what is none.

    A socket that takes both kinds of addresses shows those of the older kind within the newer one.
    """
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def household(address: str) -> str:
    """Return an address, or of a long one its first half: whoever has one IPv6 address has all of that network."""
    plain = plain_address(address)
    return str(ip_network(f"{plain}/64", strict=False)) if ":" in plain else plain or address


def payer(user: User | None, address: str) -> str:
    """Return who is charged for what somebody has run: a member of the class, or the household of everybody else.

    Whoever is in no class costs nothing to make, so visitors and guests of one address count as one. Members do not,
    who may share the address of a campus.
    """
    if user is not None and user.role is not Role.LEARNER:
        return shares.member(user.id)
    return shares.home(household(address))
