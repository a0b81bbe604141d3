"""Keeps what is stored from the other users of this machine: hashes of passwords, the secret of the seeds, sources.

The data folder is for its owner alone (0700), and so is every file in it (0600), whatever the umask says: each is made
with its mode, and SQLite gives the files beside a database the mode of the database. At a start the modes are checked.
What is the grader's own and too open, from a time before this was so, is closed, and the log says it; where that is
not possible, or where others may need what else is there, the start is refused with a sentence.

A database may be elsewhere. Then nobody else may write to its folder: whoever can chooses the file, and where a link of
that name leads (`check_place`).

Not covered: root, users with whom the administrator shares the account, and who may rename the folder itself.
"""

from __future__ import annotations

import grp
import logging
import os
import pwd
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import SettingsError
from grader.settings import PREFIX

LOG = logging.getLogger(__name__)
FOLDER_MODE, FILE_MODE = 0o700, 0o600
OTHERS, WRITABLE = 0o077, 0o022
OURS = (
    *("*.sqlite3", "*.sqlite3-*", "*.sqlite3.before-*"),
    *("secret", "secret.*", "class_code", "class_code.*", "workers", "temporary", "restore.*"),
)
NOBODYS = ("lost+found",)  # stands in each disk's topmost directory
VERSION_TABLE, OUR_TABLE = "alembic_version", "submissions"  # other programs have the first one as well
HEADER = b"SQLite format 3\0"
BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite writes at the end of a database's name
SERVING = "-serving"  # ends the name of the file beside a database that a service locks
ACCEPT = f"where nobody else can get at this one, as in a container of its own, set {PREFIX}ALLOW_OPEN_DATA=yes"
WAY_OUT = f"Name another directory in {PREFIX}DATA, or, {ACCEPT}"
MOST_LINKS = 40  # as Linux follows
WRONG_URL = (
    "the URL of the database cannot be read; expected: postgresql://user:password@host:5432/name, with signs such as "
    "@ : / # in the password written as %40 %3A %2F %23"
)
OTHER_KIND = (
    "a database is a SQLite file or a Postgres; expected: sqlite:///file or postgresql://user:password@host/name"
)


def make_folder(path: Path) -> None:
    """Make a directory, and those above it that are missing, for their owner alone."""
    for missing in reversed([one for one in (path, *path.parents) if not one.exists()]):
        missing.mkdir(FOLDER_MODE, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file for its owner alone; one that is there stays as it is, and is not even opened.

    Whoever closes a file gives up all locks that this process holds on it, those of SQLite's other connections too. The
    next process to close the database would take itself for the last one and remove the write-ahead log from under us.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))


def parse_url(url: str) -> URL:
    """Return the URL of a database in its parts; no message shows its password.

    Raises:
        SettingsError: it cannot be read, or means no database that is supported.
    """
    scheme, _, rest = url.partition("://")
    if scheme.startswith("postgres") and _is_cut_short(rest):
        raise SettingsError(WRONG_URL)  # else a part of the password is taken for a host, which messages name
    try:
        made = make_url(f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url)
    except (ArgumentError, ValueError):
        raise SettingsError(WRONG_URL) from None  # the words of both would show the password
    if made.drivername not in ("postgresql+psycopg", "sqlite"):
        raise SettingsError(f"{OTHER_KIND}; seen: another kind of address")
    if made.drivername == "sqlite" and made.database in (None, "", ":memory:"):
        raise SettingsError(f"{OTHER_KIND}; seen: sqlite: without a file")
    # SQLite's own addresses can mean memory, or a file whose modes and locks we would not know of.
    if made.drivername == "sqlite" and (made.query or str(made.database).startswith("file:")):
        raise SettingsError(f"{OTHER_KIND}; seen: sqlite: with options, or with an address in place of a file")
    return made


def _is_cut_short(rest: str) -> bool:
    """Whether a sign of a password ends it too early, or a zero the whole address, as it does in the driver."""
    before, at, _ = rest.rpartition("@")
    return any(sign in rest for sign in ("#", "%00", "\0")) or (bool(at) and any(sign in before for sign in "@/?"))


def file_of(url: str) -> Path | None:
    """Return the file of a SQLite database; None for other databases.

    Raises:
        SettingsError: the URL cannot be read.
    """
    parsed = parse_url(url)
    name = parsed.database or ""
    return Path(name) if parsed.get_backend_name() == "sqlite" else None


def obstacle(folder: Path, file: Path | None = None) -> str:
    """Return what keeps this process from writing into a folder, and to a file if it is there; empty for nothing."""
    if not folder.is_dir():
        return f"there is no folder {folder}; expected: one that is there"
    if not os.access(folder, os.W_OK | os.X_OK):
        return (
            f"this user cannot write to the folder {folder}, or its file system is read-only; expected: one that it can"
        )
    if file is not None and file.exists() and not os.access(file, os.R_OK | os.W_OK):
        return f"this user cannot write to {file}, or its file system is read-only; expected: a file that it can"
    return ""


def secure(folder: Path, database: Path | None = None, *, accept_open: bool = False) -> None:
    """Make the data folder if there is none, and see to it that other users of this machine read nothing of it.

    Args:
        folder: where the database, the secret and the class code are.
        database: the file of the database, if it has one; it may be elsewhere.
        accept_open: whether to go on where others may read it.

    Raises:
        SettingsError: others may read it, and it is not for us to change that; or nothing can be written there.
    """
    try:
        make_folder(folder)
    except OSError as error:
        raise SettingsError(f"{PREFIX}DATA is {folder}, which is no directory and cannot be made: {error}") from error
    if database is not None and (why := _foreign(database)):
        raise SettingsError(f"DATABASE_URL is {database}, which {why}; expected: one of ours, or a new name")
    _close(folder, database, accept_open=accept_open)
    if why := obstacle(folder):
        raise SettingsError(f"{PREFIX}DATA is {folder}, where nothing can be stored: {why}")
    if database is not None and (why := obstacle(database.parent, database)):
        raise SettingsError(f"DATABASE_URL is the file {database}, where nothing can be stored: {why}")


def check_place(database: Path, *, accept_open: bool = False) -> None:
    """Refuse a SQLite file that another user may have put there, or may exchange, and links of others beside it.

    What a link leads to is looked at in the same way, one after the other: SQLite puts its other files there.

    Raises:
        SettingsError: it is such a one; the text says what to do.
    """
    with _acceptable(accept_open):
        place = database.absolute()
        for _ in range(MOST_LINKS):
            try:
                _check_files(place, _owners(place.parent))
                place = place.parent / place.readlink()
            except OSError:  # no link, or not to be reached, which is told elsewhere
                return


def _owners(folder: Path) -> set[int]:
    """Return who may own files in the folder of a database; refuse one that anybody else can write to.

    Raises:
        SettingsError: somebody else can.
    """
    found, we = folder.stat(), os.geteuid()
    owners, others = {found.st_uid}, "every user" if found.st_mode & stat.S_IWOTH else ""
    if not others and found.st_mode & stat.S_IWGRP:
        user = _only_member(found.st_gid)
        owners |= set() if user is None else {user}
        others = f"group {found.st_gid}" if user is None else ""
    strangers = owners - {0, we} if we else set()  # root works for whatever user's service it is
    if others or strangers:
        raise SettingsError(
            f"{others or f'user {strangers.pop()}'} can write to {folder} ({_mode(folder)}), where the database is; "
            f"expected: a folder that only user {we}, as whom this runs, and root can. Look at what is in it, and "
            f"`chmod go-w {folder}` or `chown` it; or name another place in {PREFIX}DATABASE_URL; or, {ACCEPT}"
        )
    return {0, we, *owners}


def _only_member(gid: int) -> int | None:
    """Return whose own group it is, as many systems give one to each user and open new folders to (a umask of 002)."""
    try:
        group = grp.getgrgid(gid)
        user = pwd.getpwnam(group.gr_name)
    except KeyError:
        return None
    return user.pw_uid if user.pw_gid == gid and set(group.gr_mem) <= {user.pw_name} else None


def _check_files(database: Path, owners: set[int]) -> None:
    for file in (database.with_name(database.name + end) for end in (*BESIDE, SERVING)):
        with suppress(FileNotFoundError):
            found = file.lstat()
            is_link = stat.S_ISLNK(found.st_mode)
            owner, target = found.st_uid, _owner_of_target(file) if is_link else found.st_uid
            if owner not in owners or owner not in (0, os.geteuid(), target):
                seen = f"a link to what belongs to user {target}, made by" if is_link else "a file of"
                raise SettingsError(
                    f"{file} is {seen} user {owner}; expected: one of user {' or '.join(map(str, sorted(owners)))}. "
                    f"Look at it, and delete it if it is not yours; or, {ACCEPT}"
                )


def _owner_of_target(link: Path) -> int:
    """Return whose that is to which a link leads, or, if nothing is there, whose the folder is in which it would be."""
    target = Path(os.path.realpath(link))
    return (target if target.exists() else target.parent).stat().st_uid


@contextmanager
def _acceptable(accept_open: bool) -> Iterator[None]:
    """Let the settings accept what is refused in the block."""
    try:
        yield
    except SettingsError as reason:
        if not accept_open:
            raise
        LOG.warning("%s; the settings accept that", reason)


def _close(folder: Path, database: Path | None, *, accept_open: bool) -> None:
    closed: list[Path] = []
    with _acceptable(accept_open):
        closed += _close_folder(folder.resolve())
        if database is not None:
            check_place(database)
            closed += _close_database(database)
    if closed:
        LOG.warning(
            "other users of this machine could read %s; that is closed now. Whoever did has the hashes of passwords, "
            "what was handed in and the seeds",
            ", ".join(map(str, closed)),
        )


def _close_folder(folder: Path) -> Iterator[Path]:
    """Close the folder and what is ours in it; yield what could be read."""
    _check_owner(folder)
    mode = folder.stat().st_mode
    was_open = bool(mode & OTHERS)
    if was_open:
        entries = sorted(folder.iterdir())
        foreign = [entry.name for entry in entries if not _is_one_of(entry, (*OURS, *NOBODYS))]
        if foreign:
            raise SettingsError(
                f"{PREFIX}DATA is {folder}, which is open to other users of this machine ({_mode(folder)}) and holds "
                f"more than the grader's data ({', '.join(foreign[:3])}); expected: a directory for that data alone, "
                f"or one that is closed (`chmod 700 {folder}`). {WAY_OUT}"
            )
        yield _closed(folder, FOLDER_MODE)
    ours = [entry for entry in sorted(folder.iterdir()) if _is_one_of(entry, OURS)]  # listed once nobody can add to it
    inside = [inner for one in ours if one.is_dir() and not one.is_symlink() for inner in sorted(one.iterdir())]
    for entry in [*ours, *inside]:
        if mode & WRITABLE:
            _check_planted(entry, folder)
        if not entry.is_symlink() and _exists_open(entry):  # a mode is that of what a link leads to, whoever's it is
            _closed(entry, FOLDER_MODE if entry.is_dir() else FILE_MODE)
            if was_open:
                yield entry


def _close_database(database: Path) -> Iterator[Path]:
    """Close the files of a database, wherever they are; yield those that were open."""
    # Those in the data folder are closed by now.
    for file in (database.with_name(database.name + end) for end in BESIDE):
        if _exists_open(file):
            yield _closed(file, FILE_MODE)


def _foreign(database: Path) -> str:
    """Return why a file can be no database of ours, and must not be closed to others; nothing for one that can be.

    One that is closed already is not opened, for the reason that `make_file` gives.
    """
    try:
        found = database.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is no SQLite file"
        if not found.st_mode & OTHERS or not found.st_size:
            return ""
        with database.open("rb") as file:
            if file.read(len(HEADER)) != HEADER:
                return "is no SQLite file"
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?immutable=1", uri=True)) as connection:
            names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, sqlite3.Error):  # not there, damaged, or not to be read, which is told elsewhere
        return ""
    if not names or {VERSION_TABLE, OUR_TABLE} <= names:
        return ""
    return f"holds tables of something else ({', '.join(sorted(names)[:3])})"


def _closed(path: Path, mode: int) -> Path:
    """Return `path` once others may not read it any more."""
    before = _mode(path)
    try:
        path.chmod(mode)
    except OSError as error:
        why = f"that cannot be changed: {error.strerror}"
    else:
        why = "its file system does not change modes"
    if path.stat().st_mode & OTHERS:
        raise SettingsError(
            f"{path} is open to other users of this machine ({before}), and {why}; expected: {oct(mode)[2:]}. {WAY_OUT}"
        )
    return path


def _check_owner(folder: Path) -> None:
    if not folder.is_dir():
        raise SettingsError(f"{PREFIX}DATA is {folder}, which is no directory. {WAY_OUT}")
    owner, we = folder.stat().st_uid, os.geteuid()
    if we not in (0, owner):  # root serves from whatever directory it is given
        raise SettingsError(
            f"{PREFIX}DATA is {folder}, which belongs to user {owner}, who can read all that is in it; expected: a "
            f"directory of user {we}, as whom this runs. Run it as its owner, or `chown -R {we} {folder}`. {WAY_OUT}"
        )


def _check_planted(entry: Path, folder: Path) -> None:
    """Refuse what somebody else may have put in the place of a file of ours; a new mode would hit one elsewhere."""
    try:
        found = entry.lstat()
    except FileNotFoundError:  # the draft of another process, gone meanwhile
        return
    if stat.S_ISLNK(found.st_mode):
        what = "is a link, which leads elsewhere"
    elif stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        what = "has another name as well, elsewhere"
    elif found.st_uid not in (os.geteuid(), folder.stat().st_uid):
        what = f"belongs to user {found.st_uid}, and others could write to the folder"
    else:
        return
    raise SettingsError(
        f"{entry} {what}; expected: a file of the grader's own. Look at it, and delete it if it is not yours. {WAY_OUT}"
    )


def _exists_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & OTHERS)
    except FileNotFoundError:  # the draft of another process, gone meanwhile
        return False


def _is_one_of(entry: Path, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(entry.name, pattern) for pattern in patterns)


def _mode(path: Path) -> str:
    return f"mode {stat.S_IMODE(path.stat().st_mode):04o}"
