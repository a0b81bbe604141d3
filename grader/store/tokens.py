"""What is missing in the token buckets that all processes of an installation share (`grader.service.shared_limits`)."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grader.store.tables import BucketRow


class Spent(NamedTuple):
    """Tokens that were missing, and when that was so in seconds since the epoch."""

    missing: float
    since: float


FULL = Spent(0.0, 0.0)


def spent(session: Session, bucket: str) -> Spent:
    """Return what was last kept of a bucket; up to the end of the transaction nobody else takes from it."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    row = insert(BucketRow).values(id=bucket, missing=0.0, since=0.0, full=0.0)
    locked = row.on_conflict_do_update(index_elements=["id"], set_={"id": row.excluded.id})
    return Spent(*session.execute(locked.returning(BucketRow.missing, BucketRow.since)).one())


def seen(session: Session, bucket: str) -> Spent:
    """Return what was last kept of a bucket, for whoever only looks."""
    found = session.execute(select(BucketRow.missing, BucketRow.since).where(BucketRow.id == bucket)).one_or_none()
    return Spent(*found) if found else FULL


def keep(session: Session, bucket: str, now: Spent, full: float) -> None:
    """Keep what is missing in a bucket that `spent` has locked; by the time `full` it is full again."""
    values = {"missing": now.missing, "since": now.since, "full": full}
    session.execute(update(BucketRow).where(BucketRow.id == bucket).values(**values))


def forget_full(session: Session, now: float, most: int) -> None:
    """Forget up to `most` buckets that are full again; those that somebody is about to take from are passed over."""
    full = select(BucketRow.id).where(BucketRow.full < now).limit(most).with_for_update(skip_locked=True)
    session.execute(delete(BucketRow).where(BucketRow.id.in_(full)))
