"""Brings a database up to date with the tables, keeping what is in it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection

from grader.errors import DatabaseUnusable, GraderFault
from grader.store import private
from grader.store.engine import Database, StoreUnavailable

SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(database: Database, revision: str = "head", *, scripts: Path = SCRIPTS) -> None:
    """Apply every migration that is missing up to `revision`, all or none.

    A SQLite file that holds data is copied beside itself first (`<file>.before-<its revision>`).

    Raises:
        DatabaseUnusable: a newer version has migrated it, it is another program's, or it refuses, as on a full disk; it
            is left as it was.
        GraderFault: a row points at nothing afterwards; the database is left as it was.
    """
    try:
        with database.told():
            _upgrade(database, revision, scripts)
    except StoreUnavailable as error:
        raise DatabaseUnusable(str(error)) from error


def _upgrade(database: Database, revision: str, scripts: Path) -> None:
    config = _config(scripts)
    directory = ScriptDirectory.from_config(config)
    present = current(database)
    if present == directory.get_revision(revision).revision:
        return
    _check_known(database, present, directory)
    if present is None and (others := foreign_tables(database)):
        raise DatabaseUnusable(
            f"{database.place} holds tables of something else ({', '.join(others[:3])}); expected: an empty one"
        )
    with database.engine.connect() as connection:
        if database.embedded:
            _upgrade_embedded(connection, config, revision=revision, present=present)
            return
        with connection.begin():
            # Several machines may start at once; whoever comes second finds nothing left to do.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('grader: migrations'))")
            _run(connection, config, revision)


def check(database: Database) -> str:
    """Return the revision of a database that is up to date; nothing is changed.

    Raises:
        DatabaseUnusable: it is empty, or an older or a newer version has migrated it.
    """
    directory = ScriptDirectory.from_config(_config(SCRIPTS))
    present, head = current(database), directory.get_revision("head").revision
    if present == head:
        return head
    _check_known(database, present, directory)
    state = "holds no tables yet" if present is None else f"is at revision {present}, which is older than {head}"
    raise DatabaseUnusable(f"{database.place} {state}; start the service or run `attention-gym migrate`")


def foreign_tables(database: Database) -> list[str]:
    """Return the tables in a database in which no version of this program has made any."""
    tables = inspect(database.engine.execution_options(write=False)).get_table_names()
    return [] if private.VERSION_TABLE in tables else tables


def knows(revision: str) -> bool:
    """Return whether this version can bring tables of that revision up to date."""
    return revision in {script.revision for script in ScriptDirectory.from_config(_config(SCRIPTS)).walk_revisions()}


def current(database: Database) -> str | None:
    """Return the revision that the database is at; None for an empty one."""
    with database.told(), database.engine.execution_options(write=False).connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _check_known(database: Database, present: str | None, directory: ScriptDirectory) -> None:
    if present is not None and present not in {script.revision for script in directory.walk_revisions()}:
        raise DatabaseUnusable(
            f"{database.place} was brought to revision {present} by a newer version of the grader, which this one does "
            "not know; install that version, or restore the backup that was made before"
        )


def _upgrade_embedded(connection: Connection, config: Config, *, revision: str, present: str | None) -> None:
    # Rebuilding a table drops the old one, and with foreign keys on that would cascade into its children.
    # The switch is ignored inside a transaction, so it goes to the raw connection before one begins.
    raw = connection.connection.dbapi_connection
    assert raw is not None
    if present is not None:
        _back_up(raw, connection.engine.url.database, present)
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            _run(connection, config, revision)
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


def _run(connection: Connection, config: Config, revision: str) -> None:
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config(scripts: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config
