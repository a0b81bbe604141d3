"""The way to the database: transactions that mean the same on SQLite and on Postgres.

On SQLite every commit is on the disk before it is acknowledged (WAL with synchronous=FULL), a write transaction takes
the write lock at its first statement, and the writers of one process queue at a lock of ours. On Postgres many write at
once, and each takes the turn of those whom it concerns (`grader.store.turns`). Whatever keeps the database from doing
its work, a full disk, another process's lock, a lost connection, is a `StoreUnavailable`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.orm import Session

from grader.errors import DatabaseUnusable, GraderFault
from grader.store import postgres, private
from grader.store.urls import parse

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
PATIENCE_SECONDS = 10.0  # somebody is looking at a page meanwhile


class StoreUnavailable(GraderFault):
    """The database cannot be reached, read or written just now; nothing of the transaction is stored."""


class Database:
    """Hands out short transactions; commits at the end of the block, rolls back when it raises.

    `patience`: how many seconds a write waits for the writers before it, in this process and in others.
    """

    def __init__(self, url: str, *, patience: float = PATIENCE_SECONDS) -> None:
        """Prepare the engine for `url`; nothing is opened before the first transaction."""
        self.engine = _engine(url, patience)
        self._patience = patience
        reads, writes = ({}, {}) if self.embedded else (postgres.READS, postgres.WRITES)
        self._reader = self.engine.execution_options(write=False, **reads)
        self._writer = self.engine.execution_options(write=True, **writes)
        # SQLite's own waiting for the write lock is unfair: a writer may starve for seconds beside busy ones.
        self._turn = threading.Lock()
        self._own = threading.local()

    @property
    def embedded(self) -> bool:
        """Whether it is SQLite, a file of this machine."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that may write.

        Raises:
            GraderFault: this thread is inside a write transaction already, and would wait for itself.
            StoreUnavailable: the database does not take it now.
        """
        if getattr(self._own, "writing", False):
            raise GraderFault("a write transaction was opened inside another one of the same thread")
        with _told(), self._in_turn(), Session(self._writer) as session, session.begin():
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads, on one snapshot.

        Raises:
            StoreUnavailable: the database does not answer now.
        """
        with _told(), Session(self._reader) as session, session.begin():
            yield session

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if self.embedded and not self._turn.acquire(timeout=self._patience):
            raise StoreUnavailable(f"other writers held the database for {self._patience:g} s")
        self._own.writing = True
        try:
            yield
        finally:
            self._own.writing = False
            if self.embedded:
                self._turn.release()

    def reach(self) -> None:
        """Open a connection, so that a database that cannot be used is told at the start.

        Raises:
            DatabaseUnusable: it does not answer, or refuses.
        """
        try:
            self.engine.connect().close()
        except (DBAPIError, sqlite3.Error) as error:
            raise self.unusable(error) from None

    def unusable(self, error: Exception) -> DatabaseUnusable:
        """Return what is told where the database refuses what a start needs, by `error`."""
        why = " ".join(str(getattr(error, "orig", None) or error).split())
        return DatabaseUnusable(f"{self.place} cannot be used: {why}{'' if self.embedded else postgres.remedy(why)}")

    def answers(self) -> bool:
        """Return whether it can be read now."""
        try:
            with self.read() as session:
                session.execute(text("SELECT version_num FROM alembic_version"))  # SQLite opens no file for less
        except (StoreUnavailable, DBAPIError, sqlite3.Error):
            return False
        return True

    @property
    def place(self) -> str:
        """Which database it is, in words that hold no password."""
        url = self.engine.url
        return f"the database file {url.database}" if self.embedded else postgres.place(url)

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


@contextmanager
def _told() -> Iterator[None]:
    """Tell the state of the database, which may pass, from a wrong statement or a damaged file, which will not."""
    try:
        yield
    except (OperationalError, InterfaceError, NoConnectionFree, sqlite3.OperationalError) as error:
        # The driver's own comes while a connection is opened.
        raise StoreUnavailable(str(error).partition("\n")[0]) from error


def _engine(url: str, patience: float) -> Engine:
    parsed = parse(url)
    if parsed.get_backend_name() != "sqlite":
        return postgres.engine(parsed, patience)
    # Parameters hold sources and hashes of passwords, which do not belong into a log.
    engine = create_engine(parsed, pool_size=16, max_overflow=48, hide_parameters=True)
    if (file := private.file_of(url)) is not None:
        private.make_folder(file.parent)
        event.listen(engine, "do_connect", partial(_make, file))
    event.listen(engine, "connect", partial(_prepare, patience))
    event.listen(engine, "begin", _begin)
    return engine


def _make(file: Path, *_: object) -> None:
    # SQLite would make it as the umask says. What keeps us from that, keeps SQLite too, which says so itself.
    with suppress(OSError):
        private.make_file(file)


def _prepare(patience: float, connection: Any, _record: object) -> None:
    # The driver must not open transactions by itself: it would always open a deferred one.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={round(1000 * patience)}")
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails at once beside another writer; no timeout helps it.
    write = connection.get_execution_options().get("write", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
