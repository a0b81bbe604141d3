"""The way to the database: the only place that knows which database it is.

On SQLite every commit is on the disk before it is acknowledged (WAL with synchronous=FULL), a write transaction takes
the write lock at its first statement, and the writers of one process queue at a lock of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.orm import Session

from grader.errors import GraderFault

PRAGMAS = ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


class Database:
    """Hands out short transactions; commits at the end of the block, rolls back when it raises."""

    def __init__(self, url: str) -> None:
        """Prepare the engine for `url`; nothing is opened before the first transaction."""
        self.engine = _engine(url)
        self._reader = self.engine.execution_options(write=False)
        self._writer = self.engine.execution_options(write=True)
        # SQLite's own waiting for the write lock is unfair: a writer may starve for seconds beside busy ones.
        self._turn = threading.Lock()
        self._writer_thread = 0

    @property
    def embedded(self) -> bool:
        """Whether it is SQLite, a file of this machine."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that may write.

        Raises:
            GraderFault: this thread is inside a write transaction already, and would wait for itself.
        """
        if not self.embedded:
            with Session(self._writer) as session, session.begin():
                yield session
            return
        if self._writer_thread == threading.get_ident():
            raise GraderFault("a write transaction was opened inside another one of the same thread")
        with self._turn, Session(self._writer) as session, session.begin():
            self._writer_thread = threading.get_ident()
            try:
                yield session
            finally:
                self._writer_thread = 0

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads, on one snapshot."""
        with Session(self._reader) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True, pool_size=16, max_overflow=48)
    if parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, pool_size=16, max_overflow=48)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: object) -> None:
    # The driver must not open transactions by itself: it would always open a deferred one.
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails at once beside another writer; no timeout helps it.
    write = connection.get_execution_options().get("write", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
