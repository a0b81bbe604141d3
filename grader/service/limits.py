"""Limits: a token bucket for each key, in memory or shared in the database, and how often one may try to get in.

Who guesses is slowed down, and others' wrong tries keep nobody out.

**Passwords.** People choose them, so guessing has to be slow, and a try is refused before the password is looked at. A
limit on wrong ones per name alone would lock its owner out for as long as somebody else guesses. So a browser that has
been signed in under a name keeps a mark, and is counted by that mark only; without one the tries are counted by name
and address together, and by name and by address in all, with more patience. Where others have used up an address, each
name still has a few first tries there. What remains: whoever guesses in the name of somebody else, at the same address
or from many, keeps that person out of browsers in which they have never been signed in.

**The class code.** A right one is always taken: the class may share an address with whoever guesses. So wrong ones
cannot be slowed down, since a guesser would only have to look which code is not refused. What protects the code is its
length: a drawn one has 59 bits. At a thousand guesses a second for half a year, more than a machine that grades answers
to, the chance of a hit is one in fifty million.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address, ip_network

from grader.errors import NotAllowed
from grader.jobs import shares
from grader.store import tokens
from grader.store.engine import Database, server_time
from grader.store.records import User
from grader.store.tokens import FULL, Rate, Spent

LOG = logging.getLogger(__name__)
CROWD = 10_000  # keys; more, and the full buckets are thrown away, the next time once there are twice as many as remain
FORGET_EVERY = 200  # calls of a process
FORGOTTEN_AT_ONCE = 1000  # buckets; more than can have come since
FAILED_HERE = "sign-ins failed at your address"
GUESSING = (
    "many wrong class codes came from %r: somebody may be guessing. A right one is taken all the same. "
    "`attention-gym class-code --new` draws another code"
)


class Limiter(ABC):
    """Lets each key do something `burst` times at once, and once more every `refill` seconds."""

    def __init__(self, burst: int, refill: float) -> None:
        self._rate = Rate(burst, refill)

    def take(self, key: str, amount: float = 1.0) -> float:
        """Take tokens; return 0, or, if there are too few, the seconds until there are enough.

        More than a bucket holds may be taken from a full one, which then stays empty for as much longer.
        """
        return self._spend(key, amount, in_debt=False)

    def charge(self, key: str, amount: float) -> None:
        """Take tokens, also those that are not there: what something has cost shows only afterwards."""
        self._spend(key, amount, in_debt=True)

    def give(self, key: str) -> None:
        """Give a token back."""
        self.charge(key, -1.0)

    @abstractmethod
    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""

    @abstractmethod
    def _spend(self, key: str, amount: float, *, in_debt: bool) -> float:
        """Take tokens and return 0; or, unless `in_debt`, the seconds until there are enough."""


MakeLimiter = Callable[[str, int, float], Limiter]  # by the name of what is counted, the burst and the refill


class Buckets(Limiter):
    """A limiter of this process."""

    def __init__(self, burst: int, refill: float, *, clock: Callable[[], float]) -> None:
        super().__init__(burst, refill)
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[str, Spent] = {}
        self._crowd = CROWD

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self._lock:
            return self._rate.wait(self._spent.get(key, FULL), self._clock())

    def missing(self, key: str) -> float:
        """Return how many tokens are missing now."""
        with self._lock:
            return self._rate.missing(self._spent.get(key, FULL), self._clock())

    def _spend(self, key: str, amount: float, *, in_debt: bool) -> float:
        with self._lock:
            before, now = self._spent.get(key, FULL), self._clock()
            wait = 0.0 if in_debt else self._rate.wait(before, now, amount)
            if wait == 0:
                if len(self._spent) > self._crowd:
                    self._spent = {key: one for key, one in self._spent.items() if self._rate.missing(one, now) > 0}
                    self._crowd = max(CROWD, 2 * len(self._spent))
                self._spent[key] = self._rate.without(before, now, amount)
            return wait


@dataclass
class SharedBuckets(Limiter):
    """A limiter of all processes that share a database; `name`, of what is counted, is the same in each."""

    database: Database
    clock: Callable[[], float]
    name: str
    burst: int
    refill: float

    def __post_init__(self) -> None:
        """Begin to count the calls: at some of them full buckets are forgotten."""
        super().__init__(self.burst, self.refill)
        self._calls = itertools.count(1)

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self.database.read() as session:
            return self._rate.wait(tokens.seen(session, self._id(key)), server_time(session, self.clock))

    def _spend(self, key: str, amount: float, *, in_debt: bool) -> float:
        with self.database.write() as session:
            bucket = self._id(key)
            before = tokens.spent(session, bucket)  # waits for others; what time it is is asked afterwards
            now = server_time(session, self.clock)
            wait = 0.0 if in_debt else self._rate.wait(before, now, amount)
            if wait == 0:
                tokens.keep(session, bucket, self._rate, self._rate.without(before, now, amount))
        if next(self._calls) % FORGET_EVERY == 0:
            with self.database.write() as session:
                tokens.forget_full(session, server_time(session, self.clock), FORGOTTEN_AT_ONCE)
        return wait

    def _id(self, key: str) -> str:
        """Return the bucket of a key, which says nothing of the name or address in it to whoever reads a backup."""
        return hashlib.sha256(f"{self.name}\n{key}".encode(errors="surrogatepass")).hexdigest()


def in_memory(clock: Callable[[], float]) -> MakeLimiter:
    """Return how limits are made that this process keeps for itself."""
    return lambda _name, burst, refill: Buckets(burst, refill, clock=clock)


def limiters(database: Database, clock: Callable[[], float]) -> MakeLimiter:
    """Return how limits are made: in the process's memory where only one serves pages, as on SQLite, else shared."""
    return in_memory(clock) if database.embedded else partial(SharedBuckets, database, clock)


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
    """Return who is charged for what somebody has run: a member of a class, or the household of everybody else.

    Whoever is in no class costs nothing to make, so visitors and guests of one address count as one. Members do not,
    who may share the address of a campus.
    """
    if user is not None and user.member:
        return shares.member(user.id)
    return shares.home(household(address))


@dataclass(frozen=True, slots=True)
class Try:
    """One try: the buckets that it was taken from, with the key in each."""

    buckets: tuple[tuple[Limiter, str], ...]

    def give_back(self) -> None:
        """Count it no longer."""
        for bucket, key in self.buckets:
            bucket.give(key)


def _take(*buckets: tuple[Limiter, str, str]) -> Try:
    """Take a try from all buckets, or from none; each comes with a key and, in words, what there was too much of."""
    counted: list[tuple[Limiter, str]] = []
    for bucket, key, what in buckets:
        wait = bucket.take(key)
        if wait > 0:
            Try(tuple(counted)).give_back()
            refuse(wait, what)
        counted.append((bucket, key))
    return Try(tuple(counted))


class EntryLimits:
    """Counts the tries to sign in, and what makes accounts and sessions; each method raises `NotAllowed` at too many.

    Accounts and sessions cost disk and processor even when all is right.
    """

    def __init__(self, limiter: MakeLimiter) -> None:
        self._by_mark = limiter("sign-ins by mark", 8, 30.0)
        self._by_pair = limiter("sign-ins by name and address", 8, 30.0)
        self._by_name = limiter("sign-ins by name", 60, 5.0)
        self._by_address = limiter("sign-ins by address", 200, 1.0)  # a whole class may sit behind one address
        self._first_tries = limiter("first sign-ins", 2, 600.0)  # by name and address, where the address is used up
        self._wrong_codes = limiter("wrong class codes", 30, 10.0)
        self._warnings = limiter("warnings of guessed codes", 1, 3600.0)
        self._accounts = limiter("accounts", 600, 5.0)  # a large class registers in its first hour
        self._sessions = limiter("sessions", 100, 10.0)
        self._outside = limiter("accounts outside of a class", 100, 30.0)
        self._visitors = limiter("visitors", 400, 10.0)  # a lecture hall that begins without accounts
        self._all_visitors = limiter("all visitors", 2000, 2.0)

    def sign_in(self, name: str, address: str, mark: str | None) -> Try:
        """Count a try under a folded name; `mark` is the number that the browser has from an earlier one."""
        if mark is not None:
            return _take((self._by_mark, mark, "sign-ins failed in this browser"))
        home = household(address)
        pair = f"{home} {name}"
        wait = self._by_address.wait(home)
        if wait > 0 and self._first_tries.wait(pair) > 0:
            refuse(wait, FAILED_HERE)
        return _take(
            (self._first_tries, pair, FAILED_HERE) if wait > 0 else (self._by_address, home, FAILED_HERE),
            (self._by_pair, pair, "sign-ins failed under this name"),
            (self._by_name, name, "sign-ins failed under this name"),
        )

    def code_was_wrong(self, address: str) -> None:
        """Count a wrong class code; after many from one address the log says so, once an hour at most."""
        home = household(address)
        if self._wrong_codes.take(home) > 0 and self._warnings.take("") == 0:
            LOG.warning(GUESSING, home)

    def account(self, address: str, *, in_class: bool = True) -> Try:
        """Count an account about to be made, by somebody who knows the class code or by somebody else."""
        bucket = self._accounts if in_class else self._outside  # strangers may share the address of a class
        return _take((bucket, household(address), "accounts were made at your address"))

    def visitor(self, address: str) -> None:
        """Count a visitor about to run something for the first time."""
        _take(
            (self._visitors, household(address), "visitors began at your address"),
            (self._all_visitors, "", "visitors began everywhere"),
        )

    def session(self, name: str) -> None:
        """Count a session about to begin, once its owner has proven to be that."""
        refuse(self._sessions.take(name), "sessions were begun under this name")


def refuse(seconds: float, what: str) -> None:
    """Say how long to wait.

    Raises:
        NotAllowed: the time is not zero.
    """
    if seconds > 0:
        raise NotAllowed(f"Too many {what}. Please wait {math.ceil(seconds)} seconds and try again.")
