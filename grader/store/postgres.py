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
# Either side that is gone without a word would else be waited for until the system gives up, two hours later; and a
# machine that vanishes keeps no row locked for long. The tables of Procrastinate have a schema of their own.
OPTIONS = (
    "-csearch_path=public,procrastinate -cidle_in_transaction_session_timeout=15000 -ctcp_user_timeout=15000"
    " -ctcp_keepalives_idle=10 -ctcp_keepalives_interval=5 -ctcp_keepalives_count=3"
)
LIVENESS = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds
}
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
            connect_args=connect_args(url) | {name: value for name, value in waits.items() if name not in url.query},
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


def connect_args(url: URL) -> dict[str, Any]:
    """Return what every connection is opened with, unless the URL says otherwise."""
    ours = {**LIVENESS, "options": OPTIONS}
    return {name: value for name, value in ours.items() if name not in url.query}


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
