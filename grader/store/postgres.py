"""What is Postgres' own on the way to the database: how it is reached, how it isolates, and what its refusals mean.

A transaction that reads sees one snapshot (REPEATABLE READ). One that writes sees at each statement what was committed
before it (READ COMMITTED), so that after it has waited for somebody's lock it reads what the one before has written.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

from grader.errors import DatabaseUnusable

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


def engine(url: URL, patience: float) -> Engine:
    """Return the engine of a database on a server; a statement waits for others' locks for `patience` seconds.

    Raises:
        DatabaseUnusable: its driver is missing.
    """
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
            f"the driver for {place(url)} is missing ({missing}); `make setup` installs it, and so does "
            "`pip install -r requirements.txt`"
        ) from missing
    event.listen(made, "connect", _adapt)
    return made


def place(url: URL) -> str:
    """Say which database a URL means, without user and password."""
    host = url.host or url.query.get("host") or "this machine"
    return f"the Postgres database {url.database or '(without a name)'} at {host}:{url.port or PORT}"


def remedy(refusal: str) -> str:
    """Return what to do about the words in which a server or the driver has refused a connection."""
    return f" - {next(words for sign, words in REMEDIES if sign in refusal)}"


def _adapt(connection: Any, _record: object) -> None:
    # Here and not above: where SQLite is used, the driver need not be there.
    from psycopg.types.string import StrDumperUnknown

    class WithoutZeros(StrDumperUnknown):
        """Writes a text with another character for the zero, which Postgres' texts cannot hold."""

        def dump(self, obj: str) -> bytes | bytearray | memoryview | None:
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    connection.adapters.register_dumper(str, WithoutZeros)
