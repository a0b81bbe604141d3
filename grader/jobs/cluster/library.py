"""Procrastinate as it is set up here: its tables, its connections, and how a job is deferred.

Its tables lie in a schema of their own and hold nothing that cannot be made anew from ours: another version of the
library makes them again, and what is open is delivered again (`grader.jobs.cluster.recovery`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, Connection, select, text
from sqlalchemy.orm import Session

from grader.store.engine import StoreUnavailable
from grader.store.postgres import LIVENESS, OPTIONS
from grader.store.records import SubmissionId
from grader.store.tables import JobRow, SubmissionRow

SCHEMA = "procrastinate"
TASK = "grade"
TRY = "try"
TRYOUTS = "tryouts"  # the queue of what is only tried
_QUARTERS = 250  # milliseconds: a priority of the library has 32 bits, which last for 17 years of quarter seconds
_FIRST = 1_767_225_600_000 // _QUARTERS  # 2026-01-01
_MOST = 2**31 - 1
_CONNECTIONS = 3
_DEFERRING = App(connector=SyncPsycopgConnector())  # opens nothing: each job goes through the caller's connection


def install(connection: Connection) -> None:
    """Make the library's tables, in the transaction of `connection`, unless they are there and of this version."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('grader: tables of the library'))")
    version = metadata.version("procrastinate")
    found = connection.scalar(text(f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')"))
    if found == version:
        return
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    connection.exec_driver_sql(f"COMMENT ON SCHEMA {SCHEMA} IS '{version}'")
    connection.exec_driver_sql(f"SET LOCAL search_path TO {SCHEMA}, public")
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute(SchemaManager.get_schema())  # as it is: SQLAlchemy would look for parameters behind each `%`


def conninfo(url: URL) -> str:
    """Return the address of a database as its driver takes it, password included, and how silence is noticed."""
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    chosen = {name: value for name, value in (LIVENESS | {"options": OPTIONS}).items() if name not in url.query}
    return make_conninfo(address, **chosen)


def worker_app(
    url: URL, name: str, grade: Callable[[str, int, SubmissionId], None], answer: Callable[[str], None]
) -> App:
    """Return an app whose workers do what they are brought.

    Args:
        url: of the database.
        name: under which its connections are known at the server.
        grade: called with the queue, the worker's number in the library, and the submission.
        answer: called with a tryout.
    """
    app = App(
        connector=PsycopgConnector(
            conninfo=make_conninfo(conninfo(url), application_name=name),
            min_size=1,
            max_size=_CONNECTIONS,
            configure=_without_transactions,
        )
    )

    @app.task(name=TASK, pass_context=True)
    def deliver(context: JobContext, submission: str) -> None:
        assert context.job.worker_id is not None
        grade(context.job.queue, context.job.worker_id, SubmissionId(submission))

    @app.task(name=TRY)
    def deliver_tryout(tryout: str) -> None:
        answer(tryout)

    return app


async def _without_transactions(connection: AsyncConnection[Any]) -> None:
    """Spare two messages for each of the library's statements, of which every one stands for itself."""
    await connection.set_autocommit(True)


class Deferred:
    """Has Procrastinate deliver jobs, in the transaction that puts them into the table.

    One person's jobs for one device share a lock of the library, so that one of them runs at a time. With one lock for
    all devices, what waits for a GPU would keep the same person's jobs from every CPU.
    """

    def put(self, session: Session, ids: Collection[SubmissionId]) -> None:
        """Have these jobs, which wait in the table, brought to workers, as a part of the caller's transaction.

        Raises:
            StoreUnavailable: the database does not take them.
        """
        session.flush()
        job, row = JobRow, SubmissionRow
        query = select(job.submission_id, job.queue, job.priority, job.ready, row.user_id)
        found = session.execute(query.join(row, row.id == job.submission_id).where(job.submission_id.in_(ids))).all()
        driver = session.connection().connection.driver_connection
        for id, queue, priority, ready, person in found:
            deferrer = _DEFERRING.configure_task(
                TASK,
                queue=queue,
                priority=_priority(priority),
                lock=f"person {person} on {queue}",
                queueing_lock=id,
                schedule_at=datetime.fromtimestamp(ready, UTC),
                connection=driver,
            )
            try:
                deferrer.defer(submission=id)
            except ConnectorException as fault:
                raise StoreUnavailable(f"the job could not be put into the queue: {fault.__cause__}") from fault


def defer_tryout(session: Session, id: str) -> None:
    """Have a tryout, which is stored in the same transaction, brought to a machine that grades.

    Raises:
        StoreUnavailable: the database does not take it.
    """
    session.flush()
    driver = session.connection().connection.driver_connection
    try:
        _DEFERRING.configure_task(TRY, queue=TRYOUTS, connection=driver).defer(tryout=id)
    except ConnectorException as fault:
        raise StoreUnavailable(f"the tryout could not be put into the queue: {fault.__cause__}") from fault


def _priority(deadline: int) -> int:
    """Return the library's priority, the highest goes first, for a deadline in milliseconds since the epoch."""
    return max(-_MOST, min(_FIRST - deadline // _QUARTERS, _MOST))
