"""Procrastinate as it is set up here: its tables, its connections, and how something is deferred.

It is used by its public interface alone. What it delivers for a job is an errand: it says that there is one more job in
a queue, and brings one free worker on whatever machine to take the next one from our table. So an errand that is lost,
late, or delivered twice loses and doubles nothing, and its tables can be made anew for another version at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import Any

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, Connection, text
from sqlalchemy.orm import Session

from grader.errors import DatabaseUnusable
from grader.store.engine import LIVENESS, OPTIONS, StoreUnavailable

SCHEMA = "procrastinate"
TASK = "come"
TRYOUTS = "tryouts"  # the queue of what is only tried
_CONNECTIONS = 3
_DEFERRING = App(connector=SyncPsycopgConnector())  # opens nothing: all goes through the caller's connection


def install(connection: Connection, *, renew: bool = True) -> None:
    """Make the library's tables, in the transaction of `connection`, unless they are there and of this version.

    Raises:
        DatabaseUnusable: they are of another version, and are not to be made anew.
    """
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('grader: tables of the library'))")
    version = metadata.version("procrastinate")
    found = connection.scalar(text(f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')"))
    if found == version:
        return
    if found is not None and not renew:
        raise DatabaseUnusable(
            f"the Postgres database holds the tables of Procrastinate {found}, and this program comes with {version}; "
            "stop all workers, and start the service or run `attention-gym migrate`"
        )
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    connection.exec_driver_sql(f"COMMENT ON SCHEMA {SCHEMA} IS '{version}'")
    connection.exec_driver_sql(f"SET LOCAL search_path TO {SCHEMA}, public")
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute(SchemaManager.get_schema())  # as it is: SQLAlchemy would look for parameters behind each `%`


def conninfo(url: URL) -> str:
    """Return the address of a database as its driver takes it, password included, and how silence is noticed."""
    _, parts = url.get_dialect()().create_connect_args(url)  # not as text: the driver takes no space in that
    ours = LIVENESS | {"options": OPTIONS}
    chosen: dict[str, Any] = {name: value for name, value in ours.items() if name not in url.query}
    return make_conninfo(**{**parts, **chosen})


def defer(session: Session, queue: str, **given: str) -> None:
    """Have a worker of a queue come, as a part of the caller's transaction; for a tryout, its id is given.

    Raises:
        StoreUnavailable: the database does not take it.
    """
    session.flush()
    driver = session.connection().connection.driver_connection
    try:
        _DEFERRING.configure_task(TASK, queue=queue, connection=driver).defer(**given)
    except ConnectorException as fault:
        raise StoreUnavailable(f"nothing could be put into the queue {queue}: {fault.__cause__}") from fault


def worker_app(url: URL, name: str, come: Callable[[str, str], None]) -> App:
    """Return an app whose workers do what they are brought.

    Args:
        url: of the database.
        name: under which its connections are known at the server.
        come: called with a queue, to take the next job of it, and with the id of a tryout, if it is for one.
    """
    address = make_conninfo(conninfo(url), application_name=name)
    app = App(
        connector=PsycopgConnector(conninfo=address, min_size=1, max_size=_CONNECTIONS, configure=_without_transactions)
    )

    @app.task(name=TASK, pass_context=True)
    def run(context: JobContext, tryout: str = "") -> None:
        come(context.job.queue, tryout)

    return app


async def _without_transactions(connection: AsyncConnection[Any]) -> None:
    """Spare two messages for each of the library's statements, of which every one stands for itself."""
    await connection.set_autocommit(True)
