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

from grader.errors import DatabaseUnusable
from grader.jobs import claims
from grader.store.engine import LIVENESS, OPTIONS, StoreUnavailable
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
# What can be brought now: it waits for no pause, and nothing else of the same person is in a worker's hands.
_CAN_BE_BROUGHT = text(
    "EXISTS (SELECT 1 FROM procrastinate_jobs AS it WHERE it.queueing_lock = jobs.submission_id AND it.status = 'todo'"
    " AND coalesce(it.scheduled_at, now()) <= now() AND NOT EXISTS"
    " (SELECT 1 FROM procrastinate_jobs AS other WHERE other.lock = it.lock AND other.status = 'doing'))"
)
_BRING_FIRST = text(
    "UPDATE procrastinate_jobs SET priority = (SELECT max(priority) + 1 FROM procrastinate_jobs WHERE status = 'todo')"
    " WHERE queueing_lock = :id AND status = 'todo' RETURNING id"
)
_DEFERRING = App(connector=SyncPsycopgConnector())  # opens nothing: each job goes through the caller's connection


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

    def first(self, session: Session, id: SubmissionId, now: float) -> bool:
        """Return whether it is the turn of this job, which was brought; else have the one brought whose turn it is.

        The library's order is that of the hand-ins; it knows nothing of what anybody has used.
        """
        better = claims.before(session, id, _CAN_BE_BROUGHT, now=now)
        if better is None or session.scalar(_BRING_FIRST, {"id": better}) is None:
            return True
        self.put(session, [id])
        return False


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
    return max(-_MOST, min(_FIRST - deadline // _QUARTERS, _MOST // 2))  # above is room for those that go first
