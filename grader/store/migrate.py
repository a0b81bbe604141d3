"""Brings a database up to date with the tables, keeping what is in it.

From version 1.0.0 on every released schema is migrated: a change of the tables comes with a module in
`migrations/versions/`, whose `upgrade` makes it by Alembic's operations, and whose `revision` is a later version's.
"""

from __future__ import annotations

import re
from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection

from grader.errors import DatabaseUnusable, GraderFault
from grader.store import private
from grader.store.engine import Database, StoreUnavailable
from grader.store.tables import Base

SCRIPTS = Path(__file__).parent / "migrations"
_UNRELEASED = re.compile(r"00\d\d")  # what revisions were called before 1.0.0


def upgrade(database: Database, revision: str = "head") -> None:
    """Apply every migration that is missing up to `revision`, all or none.

    A SQLite file that holds data is copied beside itself first (`<file>.before-<its revision>`).

    Raises:
        DatabaseUnusable: a newer version has migrated it, or one before 1.0.0 has made it, it is another program's, or
            it refuses, as on a full disk; it is left as it was.
        GraderFault: a row points at nothing afterwards; the database is left as it was.
    """
    try:
        with database.told():
            _upgrade(database, revision)
    except StoreUnavailable as error:
        raise DatabaseUnusable(str(error)) from error


def _upgrade(database: Database, revision: str) -> None:
    scripts, present = ScriptDirectory(str(SCRIPTS)), current(database)
    if present == scripts.get_revision(revision).revision:
        return
    _check_known(database, present)
    if present is None and (others := foreign_tables(database)):
        raise DatabaseUnusable(
            f"{database.place} holds tables of something else ({', '.join(others[:3])}); expected: an empty one"
        )
    with database.engine.connect() as connection:
        if database.embedded:
            _upgrade_embedded(connection, scripts, revision=revision, present=present)
            return
        with connection.begin():
            # Several machines may start at once; whoever comes second finds nothing left to do.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('grader: migrations'))")
            _run(connection, scripts, revision)


def check(database: Database) -> str:
    """Return the revision of a database that is up to date; nothing is changed.

    Raises:
        DatabaseUnusable: it is empty, or an older or a newer version has migrated it.
    """
    present, newest = current(database), head()
    if present == newest:
        return newest
    _check_known(database, present)
    state = "holds no tables yet" if present is None else f"is at revision {present}, which is older than {newest}"
    raise DatabaseUnusable(f"{database.place} {state}; start the service or run `attention-gym migrate`")


def head() -> str:
    """Return the revision of this version's tables."""
    return str(ScriptDirectory(str(SCRIPTS)).get_current_head())


def knows(revision: str) -> bool:
    """Return whether this version can bring tables of that revision up to date."""
    return revision in {script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()}


def current(database: Database) -> str | None:
    """Return the revision that the database is at; None for an empty one."""
    with database.told(), database.engine.execution_options(write=False).connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def foreign_tables(database: Database) -> list[str]:
    """Return the tables in a database in which no version of this program has made any."""
    tables = inspect(database.engine.execution_options(write=False)).get_table_names()
    return [] if private.VERSION_TABLE in tables else tables


def _check_known(database: Database, present: str | None) -> None:
    if present is None or knows(present):
        return
    if _UNRELEASED.fullmatch(present):
        raise DatabaseUnusable(
            f"{database.place} was made by a version before 1.0.0 (its tables are of revision {present}), which had no "
            "release and is not carried over; go on with that version, or start anew: name another database, or move "
            "this one away"
        )
    raise DatabaseUnusable(
        f"{database.place} was brought to revision {present} by a newer version of the grader, which this one does "
        "not know; install that version, or restore the backup that was made before"
    )


def _upgrade_embedded(connection: Connection, scripts: ScriptDirectory, *, revision: str, present: str | None) -> None:
    # Rebuilding a table drops the old one, and with foreign keys on that would cascade into its children.
    # The switch is ignored inside a transaction, so it goes to the raw connection before one begins.
    raw = connection.connection.dbapi_connection
    assert raw is not None
    if present is not None:
        _back_up(raw, connection.engine.url.database, present)
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            _run(connection, scripts, revision)
            lost = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if lost:
                raise GraderFault(
                    f"the migration to {revision} left {len(lost)} rows that point at nothing: {lost[:3]}"
                )
    finally:
        raw.execute("PRAGMA foreign_keys=ON")


def _back_up(raw: DBAPIConnection, file: str | None, present: str) -> None:
    copy = Path(f"{file}.before-{present}")
    copy.unlink(missing_ok=True)
    private.make_file(copy)
    raw.execute("VACUUM INTO ?", (str(copy),))


def _run(connection: Connection, scripts: ScriptDirectory, revision: str) -> None:
    context = MigrationContext.configure(connection, opts={"target_metadata": Base.metadata})
    missing = scripts.iterate_revisions(revision, context.get_current_revision() or "base")
    with Operations.context(context):
        for script in reversed(list(missing)):
            script.module.upgrade()
    context.stamp(scripts, revision)
