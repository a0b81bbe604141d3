"""Backs an installation up while it runs, and restores it where there is none, on SQLite and on Postgres alike.

What is backed up is one snapshot: SQLite copies its pages while others write, and from Postgres every table is read in
one transaction. The keys beside the database never change, so they fit to every snapshot.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from grader.jobs import claims
from grader.jobs.claims import LostTry
from grader.jobs.moving import empty_target
from grader.store import backup_file, copying, keys, migrate, private
from grader.store.backup_file import CONTENT, KEPT, BackupManifest, BackupRefused
from grader.store.copying import lasting
from grader.store.engine import Database

_WORKPLACE = "restore."  # the beginning of its name; see `private.OURS`


def back_up(database: Database, data: Path, file: Path, *, program: str) -> BackupManifest:
    """Write a backup; others may go on writing meanwhile.

    Args:
        database: as it is; on Postgres of this version.
        data: the directory with the kept keys.
        file: where to write it; nothing may be there.
        program: the version of this program.

    Raises:
        BackupRefused: there is something at `file`, it cannot be written, or the database is damaged.
        DatabaseUnusable: it is a Postgres of another version.
        StoreUnavailable: it does not answer.
    """
    if file.exists() or not file.parent.is_dir():
        raise BackupRefused(f"{file} is there already, or its folder is not; name a new file in a folder that is there")
    with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
        content = Path(folder) / CONTENT
        private.make_file(content)
        (_copy_pages if database.embedded else _copy_rows)(database, content)
        revision = backup_file.check(content)
        if revision is None:
            raise BackupRefused(f"{database.place} holds no tables; there is nothing to back up")
        beside = {name: data / name for name in KEPT if (data / name).exists()}
        return backup_file.write(file, {CONTENT: content, **beside}, program=program, revision=revision)


def restore(file: Path, data: Path, target: Database) -> dict[str, int]:
    """Restore a backup, and return how many rows there are of each table.

    What was being graded at the time of the backup is queued again. Until everything has been checked nothing is
    changed, and what fails later is taken back.

    Args:
        file: the backup.
        data: the directory of the kept keys; made if it is not there.
        target: a database that is not there yet, or an empty Postgres.

    Raises:
        BackupRefused: the backup is damaged or of a newer form, or there is something where it is to go.
        CannotMove: there is something in the Postgres.
        DatabaseUnusable: the Postgres cannot be used.
    """
    place = _free_place(target)
    beside = data if place is None else place.parent
    for folder in (data, beside):
        private.make_folder(folder)
    with TemporaryDirectory(prefix=_WORKPLACE, dir=beside) as name:
        workplace = Path(name)
        made = backup_file.unpack(file, workplace)
        if not migrate.knows(made.revision):
            raise BackupRefused(
                f"{file} was made by a newer version ({made.program}, tables {made.revision}); install it"
            )
        rows = _brought_up_to_date(workplace / CONTENT)
        with _keys_in_place(workplace, data):
            if place is None:
                _fill(target, workplace / CONTENT)
            else:
                _put(workplace / CONTENT, place)
    return rows


def _copy_pages(database: Database, content: Path) -> None:
    with database.engine.connect() as connection, closing(sqlite3.connect(content)) as copy:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        try:
            raw.backup(copy)
        except sqlite3.Error as error:
            raise BackupRefused(f"{database.place} could not be copied: {error}") from error


def _copy_rows(database: Database, content: Path) -> None:
    migrate.check(database)
    with closing(Database(f"sqlite:///{content}")) as copy:
        migrate.upgrade(copy)
        with database.read() as old, copy.write() as new:
            # While the copy is written and compared, this transaction has nothing to say.
            old.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            copying.copy(old, new)


def _free_place(target: Database) -> Path | None:
    """Return the file that a SQLite database is to have, where there is none yet; None for a Postgres."""
    if not target.embedded:
        return None
    place = Path(target.engine.url.database or ":memory:")
    for file in (place.with_name(place.name + end) for end in private.BESIDE):
        if file.exists():
            raise BackupRefused(f"there is a database already ({file}); restore into an installation without one")
    return place


def _put(content: Path, place: Path) -> None:
    try:
        os.link(content, place)  # all at once, and nothing is overwritten
    except OSError as error:
        raise BackupRefused(f"{place} cannot be made: {error.strerror}") from error


def _brought_up_to_date(content: Path) -> dict[str, int]:
    """Migrate a copy if it is older, and put back what was being graded; return the rows of each table."""
    with closing(Database(f"sqlite:///{content}")) as copy:
        migrate.upgrade(copy)
        with copy.write() as session:
            for worker in claims.holders(session):
                claims.release(session, worker, LostTry.VANISHED)
            rows = _rows(session)
    backup_file.check(content)
    return rows


def _rows(session: Session) -> dict[str, int]:
    tables = lasting()
    return {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


@contextmanager
def _keys_in_place(workplace: Path, data: Path) -> Iterator[None]:
    """Put the kept keys where they belong for the length of the block, and for good if it succeeds.

    Raises:
        BackupRefused: there are others.
    """
    texts = {name: (workplace / name).read_text().strip() for name in KEPT if (workplace / name).exists()}
    for name in texts:
        if (data / name).exists() and (data / name).read_text().strip() != texts[name]:
            raise BackupRefused(f"{data / name} is not the one of the backup; move it away first")
    fresh = [name for name in texts if not (data / name).exists()]
    try:
        for name in fresh:
            keys.keep(data / name, texts[name])
        yield
    except BaseException:
        for name in fresh:
            (data / name).unlink(missing_ok=True)
        raise


def _fill(target: Database, content: Path) -> None:
    empty_target(target)
    with closing(Database(f"sqlite:///{content}")) as copy, copy.write() as old, target.write() as new:
        copying.copy(old, new)
