"""The way to the database: transactions that mean the same on SQLite and on Postgres.

On SQLite every commit is on the disk before it is acknowledged (WAL with synchronous=FULL), a write transaction takes
the write lock at its first statement, and the writers of one process queue at a lock of ours. On Postgres many write at
once, and each takes the turn of those whom it concerns (`grader.store.turns`): one that reads sees one snapshot
(REPEATABLE READ), one that writes sees at each statement what was committed before it (READ COMMITTED), so that after
it has waited for somebody's lock it reads what the one before has written. Whatever keeps the database from doing its
work, a full disk, another process's lock, a lost connection, is a `StoreUnavailable`.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any

from sqlalchemy import URL, Connection, Engine, Float, cast, create_engine, event, func, select, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.orm import Session as Session  # passed on to those who do not import the library

from grader.errors import DatabaseUnusable, GraderFault, record
from grader.store import private

LOG = logging.getLogger(__name__)
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
ROOM = 1 << 20  # bytes that must be free on the disk
_CLOCK = "clock"  # what a session knows of `Database.clock`
PATIENCE_SECONDS = 10.0  # somebody is looking at a page meanwhile

# Postgres' own: how it isolates, how it is reached, and what its refusals mean.
READS: Mapping[str, Any] = MappingProxyType({"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})
WRITES: Mapping[str, Any] = MappingProxyType({"isolation_level": "READ COMMITTED"})
PORT = 5432
KEPT, MOST = 5, 32  # connections of one process: open without need, and open at all; a server takes 100 as it comes
# Whoever is gone without a word is noticed by the other side after 14 s; the system alone would wait for two hours. So
# a machine that vanishes keeps no connection, and no row locked for longer than 10 s.
_SILENT = {"keepalives_idle": 5, "keepalives_interval": 3, "keepalives_count": 3}
_UNHEARD = 14_000  # milliseconds that something sent may stay without an answer
LIVENESS = {"connect_timeout": 10, "tcp_user_timeout": _UNHEARD, **_SILENT}  # how this side notices it
_THEIRS = {f"tcp_{name}": value for name, value in _SILENT.items()} | {"tcp_user_timeout": _UNHEARD}
_SESSION = {
    "search_path": "public,procrastinate",  # the tables of Procrastinate have a schema of their own
    "idle_in_transaction_session_timeout": 10_000,
    **_THEIRS,
}
OPTIONS = " ".join(f"-c{name}={value}" for name, value in _SESSION.items())
REMEDIES = (
    ("password authentication failed", "user or password are wrong; look at DATABASE_URL"),
    ("no password supplied", "it asks for a password; write one into DATABASE_URL"),
    ("does not exist", "create it on the server, as docs/operators.md shows, or look at DATABASE_URL"),
    ("no pg_hba.conf entry", "the server lets nobody in from here; see its pg_hba.conf"),
    ("too many clients", "raise max_connections of the server, or start fewer processes"),
    ("invalid connection option", "look at what follows the ? in DATABASE_URL"),
    ("", "is the server running, and can it be reached from here?"),
)


class StoreUnavailable(GraderFault):
    """The database cannot be reached, read or written just now; nothing of the transaction is stored."""


class Database:
    """Hands out short transactions; commits at the end of the block, rolls back when it raises.

    `patience`: how many seconds a write waits for the writers before it, in this process and in others.

    Attributes:
        clock: says what time it is instead of the server, to a term that is replayed; else None.
    """

    def __init__(self, url: str, *, patience: float = PATIENCE_SECONDS) -> None:
        """Prepare the engine for `url`; nothing is opened before the first transaction."""
        self.engine = _engine(url, patience)
        self.clock: Callable[[], float] | None = None
        self._is_closed = False
        event.listen(self.engine, "checkin", self._given_back)
        self._patience = patience
        reads, writes = ({}, {}) if self.embedded else (READS, WRITES)
        self._reader = self.engine.execution_options(write=False, **reads)
        self._writer = self.engine.execution_options(write=True, **writes)
        # SQLite's own waiting for the write lock is unfair: a writer may starve for seconds beside busy ones.
        self._turn = threading.Lock()
        self._own = threading.local()
        self._outages: dict[str, str] = {}  # the incident of what fails at present, by `read` and `write`
        self._noting = threading.Lock()

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
            DatabaseUnusable: it is damaged.
        """
        if getattr(self._own, "writing", False):
            raise GraderFault("a write transaction was opened inside another one of the same thread")
        with self.told("write"), self._in_turn(), self._session(self._writer) as session, session.begin():
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads, on one snapshot.

        Raises:
            StoreUnavailable: the database does not answer now.
            DatabaseUnusable: it is damaged.
        """
        with self.told(), self._session(self._reader) as session, session.begin():
            yield session

    def _session(self, engine: Engine) -> Session:
        return Session(engine, info={} if self.clock is None else {_CLOCK: self.clock})

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
        except (DBAPIError, sqlite3.Error, ArgumentError) as error:  # the last one: of options that do not go together
            raise self.unusable(error) from None

    def unusable(self, error: Exception) -> DatabaseUnusable:
        """Return what is told where the database refuses what a start needs, by `error`."""
        why = self._why(error)
        remedy = "" if self.embedded else f" - {next(words for sign, words in REMEDIES if sign in why)}"
        return DatabaseUnusable(f"{self.place} cannot be used: {why}{remedy}")

    def _why(self, error: Exception) -> str:
        said = " ".join(str(getattr(error, "orig", None) or error).split())
        if _is_damage(error):
            return f"it is damaged ({said}); stop the service, and restore a backup"
        file = Path(self.engine.url.database or "")
        obstacle = private.obstacle(file.parent, file) if self.embedded else ""
        return f"{said} - {obstacle}" if obstacle else said

    @contextmanager
    def told(self, doing: str = "read") -> Iterator[None]:
        """Tell the state of the database, which may pass, from a damaged file and a wrong statement, which will not.

        An outage is logged in one line when it begins, and in one when it is over, however many meet it meanwhile. A
        statement that SQLite refuses is none.
        """
        try:
            yield
        except StoreUnavailable as fault:
            raise self._noted(fault, doing) from fault.__cause__
        except (OperationalError, InterfaceError, NoConnectionFree, sqlite3.OperationalError) as error:
            # The driver's own comes while a connection is opened.
            away = StoreUnavailable(f"{self.place} cannot be used: {self._why(error)}")
            if _is_refused(error):
                raise away from error  # without an incident: whoever meets it logs it, and its trace says which one
            raise self._noted(away, doing) from error
        except (DatabaseError, sqlite3.DatabaseError) as error:
            if not _is_damage(error):
                raise
            raise self._noted(self.unusable(error), doing) from error
        if self._outages.pop(doing, ""):
            LOG.warning("%s can be used again (%s)", self.place, doing)

    def _noted(self, fault: GraderFault, doing: str) -> GraderFault:
        with self._noting:
            if doing not in self._outages:
                self._outages[doing] = record(LOG, f"{fault}; who asks for a page meanwhile is told to come back")
            fault.incident = self._outages[doing]
        return fault

    def answers(self) -> bool:
        """Return whether it can be read now, and whether there is room to write."""
        try:
            with self.read() as session:
                session.execute(text("SELECT version_num FROM alembic_version"))  # SQLite opens no file for less
            self._try_to_write()
        except (StoreUnavailable, DatabaseUnusable, DBAPIError, sqlite3.Error, OSError):
            return False
        return True

    def _try_to_write(self) -> None:
        if not self.embedded:
            with self.write() as session:
                session.execute(text("SELECT pg_current_xact_id()"))  # refused where nothing can be written
            return
        # A row would wait for the writers before it, and for the disk; a file without a name does neither.
        with TemporaryFile(dir=Path(self.engine.url.database or "").parent, buffering=0) as file:
            if file.write(bytes(ROOM)) < ROOM:
                raise OSError(errno.ENOSPC, "there is too little room")

    def examine(self) -> str:
        """Return what is wrong with the pages of a SQLite file, read from end to end; empty for nothing, or a Postgres.

        Raises:
            StoreUnavailable: it does not answer.
        """
        if not self.embedded:
            return ""
        try:
            with self.read() as session:
                said = str(session.execute(text("PRAGMA quick_check(1)")).scalar())
        except DatabaseUnusable as damage:
            return str(damage)
        return "" if said == "ok" else f"{self.place} is damaged ({' '.join(said.split())}); restore a backup"

    @property
    def place(self) -> str:
        """Which database it is, in words that hold no password."""
        url = self.engine.url
        return f"the database file {url.database}" if self.embedded else _postgres_place(url)

    def close(self) -> None:
        """Close the pooled connections, and each that is in use when it is given back."""
        self._is_closed = True
        self.engine.dispose()

    def _given_back(self, _connection: object, record: Any) -> None:
        # The pool that it goes back to is nobody's any more.
        if self._is_closed:
            record.invalidate()


def _is_damage(error: Exception) -> bool:
    """Return whether SQLite says that a file is no database, or a broken one; for that it has no class of its own."""
    return type(getattr(error, "orig", error)) is sqlite3.DatabaseError


def _is_refused(error: Exception) -> bool:
    """Return whether SQLite refused one statement, such as one on a table that is not there; others go on."""
    return getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def _engine(url: str, patience: float) -> Engine:
    parsed = private.parse_url(url)
    if parsed.get_backend_name() != "sqlite":
        return _postgres_engine(parsed, patience)
    # Parameters hold sources and hashes of passwords, which do not belong into a log.
    engine = create_engine(parsed, pool_size=16, max_overflow=48, hide_parameters=True)
    if (file := private.file_of(url)) is not None:
        private.make_folder(file.parent)
        event.listen(engine, "do_connect", partial(_make, file))
    event.listen(engine, "connect", partial(_prepare, patience))
    event.listen(engine, "begin", _begin)
    return engine


def _make(file: Path, *_: object) -> None:
    # SQLite would make it as the umask says, also where a link leads to nothing yet. What keeps us from that, keeps
    # SQLite too, which says so itself.
    with suppress(OSError):
        private.make_file(Path(os.path.realpath(file)))


def _prepare(patience: float, connection: Any, _record: object) -> None:
    # The driver must not open transactions by itself: it would always open a deferred one.
    connection.isolation_level = None
    # A damaged text is shown with U+FFFD where it is damaged; else no row near it could be read.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    connection.execute(f"PRAGMA busy_timeout={round(1000 * patience)}")
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails at once beside another writer; no timeout helps it.
    write = connection.get_execution_options().get("write", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _postgres_engine(url: URL, patience: float) -> Engine:
    waits = {"options": f"{OPTIONS} -clock_timeout={round(1000 * patience)}", "application_name": "attention-gym"}
    try:
        made = create_engine(
            url,
            connect_args={name: value for name, value in (LIVENESS | waits).items() if name not in url.query},
            pool_pre_ping=True,
            pool_size=KEPT,
            max_overflow=MOST - KEPT,
            hide_parameters=True,  # they hold sources and hashes of passwords, which do not belong into a log
        )
    except ImportError as missing:
        raise DatabaseUnusable(
            f"the driver for {_postgres_place(url)} is missing ({missing}); `make setup` installs it, and so does "
            "`pip install -r requirements.txt`"
        ) from missing
    event.listen(made, "connect", _adapt)
    return made


def _postgres_place(url: URL) -> str:
    host = url.host or url.query.get("host") or "this machine"
    return f"the Postgres database {url.database or '(without a name)'} at {host}:{url.port or PORT}"


def _adapt(connection: Any, _record: object) -> None:
    # Here and not above: where SQLite is used, the driver need not be there.
    from psycopg.types.string import StrDumperUnknown

    class WithoutZeros(StrDumperUnknown):
        """Writes a text with another character for the zero, which Postgres' texts cannot hold."""

        def dump(self, obj: str) -> bytes | bytearray | memoryview | None:
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    connection.adapters.register_dumper(str, WithoutZeros)


def server_time(session: Session, clock: Callable[[], float]) -> float:
    """Return the time for what this transaction stores, in seconds since the epoch.

    Args:
        session: on Postgres its server is asked, so that machines whose clocks differ agree.
        clock: of this process; what counts on SQLite, which has no other.
    """
    if _CLOCK in session.info:
        return float(session.info[_CLOCK]())
    if session.get_bind().dialect.name != "postgresql":
        return clock()
    return session.scalars(select(cast(func.extract("epoch", func.clock_timestamp()), Float(53)))).one()
