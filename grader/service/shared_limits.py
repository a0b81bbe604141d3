"""Token buckets that all processes of an installation share, in the database that they share."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from grader.service.limits import MakeLimiter, in_memory
from grader.store import tokens
from grader.store.engine import Database, server_time
from grader.store.tokens import Rate

FORGET_EVERY = 200  # calls of a process
FORGOTTEN_AT_ONCE = 1000  # buckets; more than can have come since


def limiters(database: Database, clock: Callable[[], float]) -> MakeLimiter:
    """Return how limits are made: in the process's memory where only one serves pages, as on SQLite, else shared.

    Args:
        database: of the installation.
        clock: gives the seconds since the epoch; on Postgres its server does.
    """
    return in_memory(clock) if database.embedded else partial(SharedBuckets, database, clock)


@dataclass(slots=True)
class SharedBuckets:
    """Lets each key do something `burst` times at once, and once more every `refill` seconds, in whatever process.

    Attributes:
        database: where the buckets are.
        clock: gives the seconds since the epoch where the database has no clock.
        name: of what is counted; the same in every process.
        burst, refill: see above.
    """

    database: Database
    clock: Callable[[], float]
    name: str
    burst: int
    refill: float
    _calls: itertools.count[int] = field(default_factory=lambda: itertools.count(1), init=False)

    def take(self, key: str) -> float:
        """Take a token; return 0, or, if there is none, the seconds until there is one."""
        self._forget_now_and_then()
        with self.database.write() as session:
            bucket, rate = self._id(key), self._rate
            before = tokens.spent(session, bucket)  # waits for others; what time it is is asked afterwards
            now = server_time(session, self.clock)
            if (wait := rate.wait(before, now)) == 0:
                tokens.keep(session, bucket, rate, rate.without(before, now, 1.0))
            return wait

    def wait(self, key: str) -> float:
        """Return the seconds until a token could be taken; takes none."""
        with self.database.read() as session:
            return self._rate.wait(tokens.seen(session, self._id(key)), server_time(session, self.clock))

    def give(self, key: str) -> None:
        """Give a token back."""
        self.charge(key, -1.0)

    def charge(self, key: str, amount: float) -> None:
        """Take tokens, also those that are not there: what something has cost shows only afterwards."""
        with self.database.write() as session:
            bucket, rate = self._id(key), self._rate
            before = tokens.spent(session, bucket)
            tokens.keep(session, bucket, rate, rate.without(before, server_time(session, self.clock), amount))

    @property
    def _rate(self) -> Rate:
        return Rate(self.burst, self.refill)

    def _id(self, key: str) -> str:
        """Return the bucket of a key, which says nothing of the name or address in it to whoever reads a backup."""
        return hashlib.sha256(f"{self.name}\n{key}".encode(errors="surrogatepass")).hexdigest()

    def _forget_now_and_then(self) -> None:
        if next(self._calls) % FORGET_EVERY == 0:
            with self.database.write() as session:
                tokens.forget_full(session, server_time(session, self.clock), FORGOTTEN_AT_ONCE)
