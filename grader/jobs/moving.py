"""Carries an installation from the file of a SQLite database to a Postgres."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from grader.jobs import claims
from grader.jobs.claims import LostTry
from grader.jobs.worker_lock import WorkerLock
from grader.store import copying, migrate
from grader.store.copying import CannotMove
from grader.store.engine import Database


def move(source: Database, target: Database, *, workers: Path) -> dict[str, int]:
    """Copy all that is stored, and return how many rows there are of each table; the source stays, and can be kept.

    What was being graded when the service was killed is queued again, as its next start would do.

    Args:
        source: a SQLite database, up to date.
        target: a Postgres in which there is nothing.
        workers: the directory in which grading processes show each other that they live.

    Raises:
        CannotMove: these are other kinds of databases, the service runs, or there is something in the target.
        DatabaseUnusable: the target cannot be reached, or a newer version has migrated it.
        StoreUnavailable: one of them does not answer, or somebody else writes to the source.
    """
    if not source.embedded or target.embedded:
        raise CannotMove(f"expected to move from SQLite to Postgres; seen: from {source.place} to {target.place}")
    empty_target(target)
    with closing(WorkerLock(workers)) as lock, source.write() as old, target.write() as new:
        if lock.others():
            raise CannotMove("the service is running: a grading process is alive; stop it, and then move")
        for worker in claims.holders(old):
            claims.release(old, worker, LostTry.KILLED)
        return copying.copy(old, new)


def empty_target(target: Database) -> None:
    """Make the tables in a Postgres that is to be filled.

    Raises:
        CannotMove: it holds tables of something else.
        DatabaseUnusable: it cannot be reached, or a newer version has migrated it.
    """
    target.reach()
    if tables := migrate.foreign_tables(target):
        raise CannotMove(f"{target.place} holds tables of something else ({', '.join(tables[:3])}); make a new one")
    migrate.upgrade(target)
