"""Backs an installation up while it runs, restores it where there is none, and moves it from SQLite to Postgres.

All three are a dump (`grader.store.dump`) and a load of it, on SQLite and on Postgres alike. What is dumped is one
snapshot. The keys beside the database never change, so they fit to every snapshot.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from grader.jobs import archive, claims
from grader.jobs.claims import LostTry
from grader.jobs.locks import WorkerLock
from grader.settings import file_url
from grader.store import dump, keys, migrate, private
from grader.store.dump import KEPT, DumpManifest, DumpRefused
from grader.store.engine import Database
from grader.store.tables import UserRow

_WORKPLACE = "restore.unfinished."  # the beginning of its name, which nobody else gives; see `private.OURS`
_CONTENT, _CARRIED = "database.sqlite3", "carried.zip"


def back_up(database: Database, data: Path, file: Path) -> DumpManifest:
    """Write a dump with the keys that are kept in `data`; others may go on writing meanwhile.

    Raises:
        DumpRefused: there is something at `file`, it cannot be written, or the database is damaged.
        DatabaseUnusable: it is of another version.
        StoreUnavailable: it does not answer.
    """
    migrate.check(database)
    with database.read() as session:
        if database.embedded:
            _check_pages(session)
        else:
            session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))  # a slow disk is no lost machine
        return _dump(session, file, data)


def restore(
    file: Path, data: Path, target: Database, *, secret: bytes | None, trust: bool, say: Callable[[str], None]
) -> dict[str, int]:
    """Load a dump, and return how many rows there are of each table.

    What was being graded at that time is queued again. Until everything has been checked nothing is changed, and what
    fails later is taken back.

    The grading files in it are run later only if they are signed with `secret`. A dump may bring a secret along, but
    who has made it up knows that one, so its signatures are taken away unless it is trusted.

    Args:
        data: the directory of the kept keys; made if it is not there.
        target: a database that is not there yet, or an empty Postgres.
        secret: of this installation; None where it has none yet.
        trust: whether all grading files in it may be run, and are signed.
        say: told beforehand which grading files will not be run.

    Raises:
        SettingsError: the secret or the class code in it is none.
        DumpRefused: it cannot be loaded, or there is something where it is to go.
        DatabaseUnusable: the Postgres cannot be used.
    """
    place = _free_place(target)
    beside = data if place is None else place.parent
    for folder in (data, beside):
        private.make_folder(folder)
    finish_killed(data, target)
    with _workplace_in(beside) as workplace, closing(Database(file_url(workplace / _CONTENT))) as fresh:
        rows = _load(file, workplace, fresh)
        brought = keys.secret(workplace) if (workplace / keys.SECRET).exists() else None
        for name, kept in _kept_in(workplace).items():
            if _kept_in(data).get(name, kept) != kept:
                raise DumpRefused(f"{data / name} is not the one of the backup; move it away first")
        with fresh.write() as session:
            for worker, tokens in claims.holders(session).items():
                claims.release(session, worker, tokens, LostTry.VANISHED)
            secret = secret or (brought if trust else None)
            if trust or secret is None:
                archive.sign(session, secret)
            if warning := archive.warning(session, secret):
                say(warning)
        if place is None:
            with fresh.write() as session:
                _carry(session, target, workplace)
        else:
            fresh.close()  # which writes all of it into its file
            _put(workplace / _CONTENT, place)
        try:
            _put_keys(workplace, data)
        except BaseException:
            if place is not None:
                place.unlink()
            raise
    return rows


def move(source: Database, target: Database, data: Path) -> dict[str, int]:
    """Carry all that is stored to a Postgres, and return how many rows there are of each table; the source stays.

    What was being graded when the service was killed is queued again, as its next start would do.

    `source` is up to date, there is nothing in `target`, and in `data` grading processes show that they live.

    Raises:
        DumpRefused: these are other kinds of databases, the service runs, or the target is not empty or takes not all.
        DatabaseUnusable: the target cannot be reached, or a newer version has migrated it.
        StoreUnavailable: one of them does not answer, or somebody else writes to the source.
    """
    if not source.embedded or target.embedded:
        raise DumpRefused(f"expected to move from SQLite to Postgres; seen: from {source.place} to {target.place}")
    _make_tables(target)
    with closing(WorkerLock(data / "workers")) as lock, _workplace_in(data) as workplace, source.write() as session:
        if lock.others():
            raise DumpRefused("the service is running: a grading process is alive; stop it, and then move")
        for worker, tokens in claims.holders(session).items():
            claims.release(session, worker, tokens, LostTry.KILLED)
        return _carry(session, target, workplace)


def _dump(session: Session, file: Path, data: Path) -> DumpManifest:
    program = metadata.version("attention-gym")
    return dump.write(session, file, kept=_kept_in(data), program=program, revision=migrate.head())


def _carry(source: Session, target: Database, workplace: Path) -> dict[str, int]:
    """Dump a database of this version, and load it into an empty Postgres, in one transaction of each."""
    _make_tables(target)
    file = workplace / _CARRIED
    _dump(source, file, workplace)
    with dump.opened(file) as (manifest, lines), target.write() as session:
        dump.load(session, manifest, lines)
    return manifest.rows


def _make_tables(target: Database) -> None:
    target.reach()
    if tables := migrate.foreign_tables(target):
        raise DumpRefused(f"{target.place} holds tables of something else ({', '.join(tables[:3])}); make a new one")
    migrate.upgrade(target)


def _load(file: Path, workplace: Path, fresh: Database) -> dict[str, int]:
    """Load a dump into a new SQLite file, bring it up to date, and put its keys beside it, if they are such."""
    with dump.opened(file) as (manifest, lines):
        if not migrate.knows(manifest.revision):
            raise DumpRefused(
                f"{file} was made by a newer version ({manifest.program}, tables {manifest.revision}); install it"
            )
        for name, kept in manifest.kept.items():
            private.make_file(workplace / name)
            (workplace / name).write_text(kept)
        for name, read in ((keys.SECRET, keys.secret), (keys.CLASS_CODE, keys.class_code)):
            if name in manifest.kept:
                read(workplace)
        migrate.upgrade(fresh, manifest.revision)
        with fresh.write() as session:
            dump.load(session, manifest, lines)
    migrate.upgrade(fresh)
    return manifest.rows


def _check_pages(session: Session) -> None:
    """Refuse a SQLite file that is damaged, or in which a row points at nothing."""
    said = session.scalar(text("PRAGMA integrity_check"))
    lost = session.execute(text("PRAGMA foreign_key_check")).all()
    if said != "ok" or lost:
        raise DumpRefused(f"the database is damaged: {said}; {len(lost)} rows point at nothing: {lost[:3]}")


def _free_place(target: Database) -> Path | None:
    """Return the file that a SQLite database is to have, where there is none yet; None for a Postgres."""
    if not target.embedded:
        return None
    place = Path(target.engine.url.database or ":memory:")
    for file in (place.with_name(place.name + end) for end in private.BESIDE):
        if file.exists():
            raise DumpRefused(f"there is a database already ({file}); restore into an installation without one")
    return place


def _put(content: Path, place: Path) -> None:
    try:
        os.link(content, place)  # all at once, and nothing is overwritten
    except OSError as error:
        raise DumpRefused(f"{place} cannot be made: {error.strerror}") from error


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
            if _is_stored(workplace / _CONTENT, place, target):
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
def _workplace_in(folder: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix=_WORKPLACE, dir=folder) as name, _held(Path(name)):
        yield Path(name)


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


def _put_keys(workplace: Path, data: Path) -> None:
    for name, kept in _kept_in(workplace).items():
        keys.keep(data / name, kept)


def _kept_in(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(errors="replace").strip() for name in KEPT if (folder / name).exists()}
