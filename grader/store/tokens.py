"""What is missing in the token buckets that all processes of an installation share, in the database."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grader.store.tables import BucketRow


class Spent(NamedTuple):
    """Tokens that were missing, and when that was so in seconds since the epoch."""

    missing: float
    since: float


FULL = Spent(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Rate:
    """What a bucket holds, how many seconds one token more takes, and how many can be missing at most."""

    burst: int
    refill: float
    most: float = math.inf

    def missing(self, spent: Spent, now: float) -> float:
        """Return how many tokens are missing now; a clock that is set back must not add to them."""
        return max(0.0, spent.missing - max(0.0, now - spent.since) / self.refill)

    def wait(self, spent: Spent, now: float, amount: float = 1.0) -> float:
        """Return the seconds until so many tokens can be taken; more than a bucket holds are taken from a full one."""
        return max(0.0, self.missing(spent, now) - max(self.burst - amount, 0.0)) * self.refill

    def without(self, spent: Spent, now: float, amount: float) -> Spent:
        """Return what is missing once so many tokens were taken now, also those that are not there."""
        return Spent(min(max(0.0, self.missing(spent, now) + amount), self.most), now)

    def full(self, spent: Spent) -> float:
        """Return when a bucket is full again."""
        return spent.since + spent.missing * self.refill


def spent(session: Session, bucket: str) -> Spent:
    """Return what was last kept of a bucket; up to the end of the transaction nobody else takes from it."""
    row = _insert(session)(BucketRow).values(id=bucket, missing=0.0, since=0.0, full=0.0)
    locked = row.on_conflict_do_update(index_elements=["id"], set_={"id": row.excluded.id})
    return Spent(*session.execute(locked.returning(BucketRow.missing, BucketRow.since)).one())


def seen(session: Session, bucket: str) -> Spent:
    """Return what was last kept of a bucket, for whoever only looks."""
    found = session.execute(select(BucketRow.missing, BucketRow.since).where(BucketRow.id == bucket)).one_or_none()
    return Spent(*found) if found else FULL


def keep(session: Session, bucket: str, rate: Rate, now: Spent) -> None:
    """Keep what is missing in a bucket that `spent` has locked."""
    values = {"missing": now.missing, "since": now.since, "full": rate.full(now)}
    session.execute(update(BucketRow).where(BucketRow.id == bucket).values(**values))


def charge(session: Session, buckets: Mapping[str, Rate], amount: float, now: float) -> bool:
    """Take tokens from several buckets, also those that are not there; return whether all of them were known.

    Of two that make the same bucket at once the charge of one may be lost.
    """
    row = BucketRow
    query = select(row.id, row.missing, row.since).where(row.id.in_(buckets)).order_by(row.id).with_for_update()
    before = {id: Spent(*rest) for id, *rest in session.execute(query)}
    after = {id: rate.without(before.get(id, FULL), now, amount) for id, rate in sorted(buckets.items())}
    rows = [{"id": id, **spent._asdict(), "full": buckets[id].full(spent)} for id, spent in after.items()]
    fresh = _insert(session)(BucketRow.__table__)
    changed = {name: fresh.excluded[name] for name in ("missing", "since", "full")}
    session.execute(fresh.on_conflict_do_update(index_elements=["id"], set_=changed), rows)
    return before.keys() == buckets.keys()


def _insert(session: Session) -> Any:
    return sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert


def forget_full(session: Session, now: float, most: int) -> None:
    """Forget up to `most` buckets that are full again; those that somebody is about to take from are passed over."""
    full = select(BucketRow.id).where(BucketRow.full < now).limit(most).with_for_update(skip_locked=True)
    session.execute(delete(BucketRow).where(BucketRow.id.in_(full)))
