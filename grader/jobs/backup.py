"""Backs an installation up while it runs, restores it where there is none, and moves it from SQLite to Postgres.

What is backed up is one snapshot: SQLite copies its pages while others write, and from Postgres every table is read in
one transaction. The keys beside the database never change, so they fit to every snapshot.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from grader.jobs import archive, claims
from grader.jobs.claims import LostTry
from grader.jobs.locks import WorkerLock
from grader.settings import file_url
from grader.store import backup_file, copying, keys, migrate, private
from grader.store.backup_file import CONTENT, KEPT, BackupManifest, BackupRefused
from grader.store.copying import CannotMove, lasting
from grader.store.engine import Database
from grader.store.tables import Base, UserRow

_WORKPLACE = "restore.unfinished."  # the beginning of its name, which nobody else gives; see `private.OURS`


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


def restore(
    file: Path, data: Path, target: Database, *, secret: bytes | None, trust: bool, say: Callable[[str], None]
) -> dict[str, int]:
    """Restore a backup, and return how many rows there are of each table.

    What was being graded at the time of the backup is queued again. Until everything has been checked nothing is
    changed, and what fails later is taken back.

    The grading files in it are run later only if they are signed with `secret`. A backup may bring a secret along, but
    who has made it up knows that one, so its signatures are taken away unless it is trusted.

    Args:
        file: the backup.
        data: the directory of the kept keys; made if it is not there.
        target: a database that is not there yet, or an empty Postgres.
        secret: of this installation; None where it has none yet.
        trust: whether all grading files in it may be run, and are signed.
        say: told beforehand which grading files will not be run.

    Raises:
        SettingsError: the secret or the class code in it is none.
        BackupRefused: the backup is damaged, of a newer form, or holds a schema of its own, or there is something
            where it is to go.
        CannotMove: there is something in the Postgres.
        DatabaseUnusable: the Postgres cannot be used.
    """
    place = _free_place(target)
    beside = data if place is None else place.parent
    for folder in (data, beside):
        private.make_folder(folder)
    finish_killed(data, target)
    with TemporaryDirectory(prefix=_WORKPLACE, dir=beside) as name, _held(workplace := Path(name)):
        made = backup_file.unpack(file, workplace)
        if not migrate.knows(made.revision):
            raise BackupRefused(
                f"{file} was made by a newer version ({made.program}, tables {made.revision}); install it"
            )
        _check_schema(file, made.revision, workplace)
        brought = keys.secret(workplace) if (workplace / keys.SECRET).exists() else None
        if (workplace / keys.CLASS_CODE).exists():
            keys.class_code(workplace)
        secret = secret or (brought if trust else None)
        rows = _brought_up_to_date(workplace / CONTENT, secret, trust=trust, say=say)
        _check_keys(workplace, data)
        if place is None:
            _fill(target, workplace / CONTENT)
        else:
            _put(workplace / CONTENT, place)
        try:
            _put_keys(workplace, data)
        except BaseException:
            if place is not None:
                place.unlink()
            raise
    return rows


def move(source: Database, target: Database, *, workers: Path) -> dict[str, int]:
    """Copy all that is stored, and return how many rows there are of each table; the source stays, and can be kept.

    What was being graded when the service was killed is queued again, as its next start would do.

    Args:
        source: a SQLite database, up to date.
        target: a Postgres in which there is nothing.
        workers: the directory in which grading processes show each other that they live.

    Raises:
        CannotMove: these are other kinds of databases, the service runs, or there is something in the target.
        DatabaseUnusable: the target cannot be reached, or a newer version has migrated it.
        StoreUnavailable: one of them does not answer, or somebody else writes to the source.
    """
    if not source.embedded or target.embedded:
        raise CannotMove(f"expected to move from SQLite to Postgres; seen: from {source.place} to {target.place}")
    _empty_target(target)
    with closing(WorkerLock(workers)) as lock, source.write() as old, target.write() as new:
        if lock.others():
            raise CannotMove("the service is running: a grading process is alive; stop it, and then move")
        for worker, tokens in claims.holders(old).items():
            claims.release(old, worker, tokens, LostTry.KILLED)
        return copying.copy(old, new)


def _empty_target(target: Database) -> None:
    """Make the tables in a Postgres that is to be filled.

    Raises:
        CannotMove: it holds tables of something else.
        DatabaseUnusable: it cannot be reached, or a newer version has migrated it.
    """
    target.reach()
    if tables := migrate.foreign_tables(target):
        raise CannotMove(f"{target.place} holds tables of something else ({', '.join(tables[:3])}); make a new one")
    migrate.upgrade(target)


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
    with closing(Database(file_url(content))) as copy:
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


def _check_schema(file: Path, revision: str, workplace: Path) -> None:
    """Refuse what has another schema than the tables of that revision, or a value of another type than it says.

    Nothing in the copy is run before.

    Raises:
        BackupRefused: it has; the text names what differs.
    """
    content, pattern = workplace / CONTENT, workplace / "pattern.sqlite3"
    if (found := backup_file.revision_in(content)) != revision:
        raise BackupRefused(f"{file} is damaged: its tables are of revision {found}, and it says {revision}")
    with closing(Database(file_url(pattern))) as fresh:
        migrate.upgrade(fresh, revision)
    if strange := backup_file.strange_objects(content, pattern):
        raise BackupRefused(
            f"{file} was not written by this program, or was changed since: {'; '.join(strange[:3])}; take another one"
        )
    if value := backup_file.strange_value(content):
        raise BackupRefused(f"{file} is damaged, or was changed since: {value}; take another one")


def _brought_up_to_date(
    content: Path, secret: bytes | None, *, trust: bool, say: Callable[[str], None]
) -> dict[str, int]:
    """Migrate a copy if it is older, forget its processes, and put back what was being graded; return the rows."""
    with closing(Database(file_url(content))) as copy:
        migrate.upgrade(copy)
        with copy.write() as session:
            for table in (one for one in Base.metadata.sorted_tables if one.info.get("passing")):
                session.execute(delete(table))
            for worker, tokens in claims.holders(session).items():
                claims.release(session, worker, tokens, LostTry.VANISHED)
            if trust or secret is None:
                archive.sign(session, secret)
            if warning := archive.warning(session, secret):
                say(warning)
            rows = _rows(session)
    backup_file.check(content)
    return rows


def _rows(session: Session) -> dict[str, int]:
    tables = lasting()
    return {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def finish_killed(data: Path, target: Database) -> None:
    """Put the keys beside a database whose `restore` was killed before that; remove what any other killed one has left.

    The database comes first, all at once, and its keys stay in the workplace until then: whenever a restore is killed,
    no other database has its keys, and none is left without them.
    """
    place = Path(target.engine.url.database or "") if target.embedded else None
    for workplace in (data if place is None else place.parent).glob(f"{_WORKPLACE}*"):
        with suppress(FileNotFoundError), _held(workplace) as is_ours:  # else another process was first
            if not is_ours:
                continue
            if _is_stored(workplace / CONTENT, place, target):
                _put_keys(workplace, data)
            shutil.rmtree(workplace)


def _is_stored(content: Path, place: Path | None, target: Database) -> bool:
    if place is not None:
        return content.exists() and place.exists() and place.samefile(content)
    if migrate.current(target) is None:
        return False
    with target.read() as session:
        return session.scalar(select(UserRow.id).limit(1)) is not None


@contextmanager
def _held(workplace: Path) -> Iterator[bool]:
    """Hold a workplace for the length of the block, and tell whether nobody else does; the kernel lets go of it."""
    handle = os.open(workplace, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)


def _check_keys(workplace: Path, data: Path) -> None:
    """Refuse to put a database beside the keys of another one.

    Raises:
        BackupRefused: there are some.
    """
    for name, kept in _kept_in(workplace).items():
        if _kept_in(data).get(name, kept) != kept:
            raise BackupRefused(f"{data / name} is not the one of the backup; move it away first")


def _put_keys(workplace: Path, data: Path) -> None:
    for name, kept in _kept_in(workplace).items():
        keys.keep(data / name, kept)


def _kept_in(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(errors="replace").strip() for name in KEPT if (folder / name).exists()}


def _fill(target: Database, content: Path) -> None:
    _empty_target(target)
    with closing(Database(file_url(content))) as copy, copy.write() as old, target.write() as new:
        copying.copy(old, new)
