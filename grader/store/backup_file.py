"""The file of a backup: a zip with a manifest, the database as a SQLite file, and the keys that are kept beside it.

The manifest names the size and the SHA-256 of each part. The file is made for its owner alone, since it holds whatever
the database holds. Covered: damage, a file that is no backup, a backup of a newer form, and code in a backup that was
changed on purpose: its schema must be that of its revision, object by object (`strange_objects`), each value of the
type that this schema says (`strange_value`), and the grading files in it are run only if this installation has signed
them (`grader.jobs.archive`). Not covered: changed rows, as scores.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from grader.errors import GraderFault
from grader.store import keys, private

MANIFEST, CONTENT = "manifest.json", "database.sqlite3"
KEPT = (keys.SECRET, keys.CLASS_CODE)  # what the data directory has and the database has not
FORMAT = 1
_PIECE = 1 << 20  # bytes
_LONGEST_MANIFEST = 64 << 10  # bytes
_VERSION = "alembic_version"
_STATISTICS = {  # what ANALYZE makes: numbers for the planner of queries
    (name, name, f"CREATE TABLE {name} ( {columns} )")
    for name, columns in (
        ("sqlite_stat1", "tbl , idx , stat"),
        ("sqlite_stat4", "tbl , idx , neq , nlt , ndlt , sample"),
    )
}


class _NoText:
    """Stands for a text that is no UTF-8."""


_KINDS: dict[str, type] = {
    "INTEGER": int, "BIGINT": int, "VARCHAR": str, "TEXT": str, "FLOAT": float, "BLOB": bytes,
}  # fmt: skip
_UNDECLARED = {  # SQLite's own, which counts ids
    ("sqlite_sequence", "name"): "TEXT",
    ("sqlite_sequence", "seq"): "INTEGER",
}
_JSON = {  # columns of texts that are JSON objects
    *(
        ("reports", "body"),
        ("gradings", "report"),
        ("processes", "slots"),
        ("tryouts", "asked"),
        ("tryouts", "outcome"),
    ),
}
_WORDS: dict[type, str] = {
    int: "an integer", float: "a number", str: "a text", bytes: "bytes", type(None): "nothing",
    _NoText: "a text that is no UTF-8",
}  # fmt: skip


class BackupRefused(GraderFault):
    """A backup cannot be made or restored; the text says why, and everything is as it was."""


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup says of itself.

    Attributes:
        format: of the file.
        made: when, UTC, as ISO 8601.
        program: the version that made it.
        revision: of the tables.
        sizes: bytes of each part.
        digests: SHA-256 of each part, in hexadecimal.
    """

    format: int
    made: str
    program: str
    revision: str
    sizes: dict[str, int]
    digests: dict[str, str]


def write(file: Path, parts: Mapping[str, Path], *, program: str, revision: str) -> BackupManifest:
    """Write a backup of `parts`, files by their names in it.

    Raises:
        BackupRefused: there is something at `file`, or it cannot be written.
    """
    sums = {name: _summed(path) for name, path in parts.items()}
    manifest = BackupManifest(
        FORMAT,
        datetime.now(UTC).isoformat(timespec="seconds"),
        program,
        revision,
        {name: size for name, (size, _) in sums.items()},
        {name: digest for name, (_, digest) in sums.items()},
    )
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, private.FILE_MODE)
    except FileExistsError:
        raise BackupRefused(f"there is something at {file} already; name a file that is not there") from None
    except OSError as error:
        raise BackupRefused(f"{file} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w+b") as out:
            _write_all(out, manifest, parts)
    except BaseException as error:
        file.unlink()  # half a backup is none
        if isinstance(error, OSError):
            raise BackupRefused(f"{file} cannot be written: {error.strerror}") from error
        raise
    return manifest


def unpack(file: Path, folder: Path) -> BackupManifest:
    """Put the parts of a backup into `folder`, once each is known to be what was written.

    Raises:
        BackupRefused: it is no backup, is damaged, or was made by a newer version; `folder` may hold some parts.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(MANIFEST).file_size > _LONGEST_MANIFEST:
                raise ValueError(f"its {MANIFEST} is too long")
            manifest = _manifest(json.loads(archive.read(MANIFEST)), file)
            _check_room(archive, manifest, folder)
            strange = [name for name in manifest.sizes if not _unpacked(archive, name, folder, manifest)]
    except FileNotFoundError:
        raise BackupRefused(f"there is no backup {str(file)!r}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise BackupRefused(f"{file} is no backup, or is damaged: {error}") from None
    except OSError as error:
        raise BackupRefused(f"{file} cannot be unpacked: {error.strerror}") from None
    if strange:
        raise BackupRefused(f"{file} is damaged: {', '.join(strange)} in it is not what was written")
    return manifest


def _check_room(archive: zipfile.ZipFile, manifest: BackupManifest, folder: Path) -> None:
    """Refuse parts that are longer than the manifest says, or than the disk has room for; a zip of 1 MB can hold 1 GB.

    Raises:
        BackupRefused: there is too little room.
    """
    if any(archive.getinfo(name).file_size != size for name, size in manifest.sizes.items()):
        raise ValueError("its parts have other sizes than it says")
    needed, free = sum(manifest.sizes.values()), shutil.disk_usage(folder).free
    if needed > free:
        raise BackupRefused(f"its parts have {needed} bytes, where {folder.parent} has room for {free}")


def check(content: Path) -> str | None:
    """Look through a SQLite file that nobody else uses, and leave it without files beside it; return its revision.

    Raises:
        BackupRefused: it is damaged, or a row points at nothing.
    """
    try:
        with closing(sqlite3.connect(content)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA journal_mode=DELETE")
            said = connection.execute("PRAGMA integrity_check").fetchone()[0]
            lost = connection.execute("PRAGMA foreign_key_check").fetchall()
            versioned = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone() if versioned else None
    except sqlite3.DatabaseError as error:
        raise BackupRefused(f"the database is damaged: {error}") from None
    if said != "ok" or lost:
        raise BackupRefused(f"the database is damaged: {said}; {len(lost)} rows point at nothing: {lost[:3]}")
    return str(revision[0]) if revision else None


def revision_in(content: Path) -> str:
    """Return the revision of the tables in a SQLite file that may be hostile; nothing of its own runs.

    Raises:
        BackupRefused: it is damaged, or names none.
    """
    found: list[Any] = []
    if any(kind == "table" and name == _VERSION for kind, name, *_ in _objects(content)):  # a view would run a query
        try:
            with closing(sqlite3.connect(content)) as connection:
                found = connection.execute(f"SELECT version_num FROM {_VERSION} LIMIT 2").fetchall()
        except sqlite3.DatabaseError as error:
            raise BackupRefused(f"the database is damaged: {error}") from None
    if len(found) != 1:
        raise BackupRefused(f"its database names {len(found)} revisions of its tables; expected: 1")
    return str(found[0][0])


def strange_objects(content: Path, pattern: Path) -> list[str]:
    """Return in words what the schema of a SQLite file has that `pattern` has not, or the other way round.

    A trigger, a view or an expression of somebody else's would run in each transaction from then on.
    """
    found, expected = _objects(content), _objects(pattern)
    words = [f"{kind} {name!r} is foreign, or not as it should be" for kind, name, *_ in sorted(found - expected)]
    names = {name for _, name, *_ in found}
    return words + [f"{kind} {name!r} is missing" for kind, name, *_ in sorted(expected - found) if name not in names]


def strange_value(content: Path) -> str:
    """Return in words where a SQLite file holds a value of another type than its schema says; empty for nowhere.

    SQLite stores any value in any column; one of another type ends what reads it, as the queue of the whole class.
    """
    try:
        with closing(sqlite3.connect(content)) as connection:
            connection.text_factory = _text
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            ours = sorted(set(tables) - {name for name, *_ in _STATISTICS})
            return next(filter(None, (_strange_value(connection, table) for table in ours)), "")
    except sqlite3.DatabaseError as error:
        raise BackupRefused(f"the database is damaged: {error}") from None


def _strange_value(connection: sqlite3.Connection, table: str) -> str:
    expected = []
    for _, name, declared, is_needed, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
        kind = _KINDS[declared.partition("(")[0] or _UNDECLARED[table, name]]
        expected.append((name, (kind,) if is_needed else (kind, type(None)), (table, name) in _JSON))
    for row in connection.execute(f'SELECT * FROM "{table}"'):
        for value, (name, kinds, is_json) in zip(row, expected, strict=True):
            if type(value) not in kinds:
                words = " or ".join(_WORDS[kind] for kind in kinds)
                return f"column {name} of table {table} holds {_WORDS[type(value)]}; expected: {words}"
            if is_json and value is not None and not _is_json_object(value):
                return f"column {name} of table {table} holds a text that is no JSON object; expected: one"
    return ""


def _text(raw: bytes) -> str | _NoText:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _NoText()


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _objects(content: Path) -> set[tuple[str, ...]]:
    """Return kind, name, table and definition of all that the schema of a SQLite file holds."""
    try:
        with closing(sqlite3.connect(content)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        raise BackupRefused(f"the database is damaged: {error}") from None
    objects = {(str(kind), str(name), str(table), _tokens(str(sql))) for kind, name, table, sql in rows}
    return {one for one in objects if one[1:] not in _STATISTICS}


def _tokens(sql: str) -> str:
    """Return a definition without what versions of SQLite write differently: spaces, and quotes around a plain name."""
    return " ".join(re.findall(r"\w+|\S", re.sub(r'["`\[](\w+)["`\]]', r"\1", sql)))


def _write_all(out: IO[bytes], manifest: BackupManifest, parts: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
        for name, path in parts.items():
            archive.write(path, name)
    out.flush()
    os.fsync(out.fileno())


def _manifest(document: dict[str, object], file: Path) -> BackupManifest:
    if document["format"] != FORMAT:
        raise BackupRefused(
            f"{file} has form {document['format']}, where {FORMAT} is known here; install a newer version"
        )
    manifest = BackupManifest(**document)  # type: ignore[arg-type]  # what it lacks is a TypeError; the rest is looked at here
    strange = set(manifest.sizes) - {CONTENT, *KEPT}
    if strange or CONTENT not in manifest.sizes or set(manifest.sizes) != set(manifest.digests):
        raise ValueError(f"its parts are {', '.join(sorted(manifest.sizes))}")
    return manifest


def _unpacked(archive: zipfile.ZipFile, name: str, folder: Path, manifest: BackupManifest) -> bool:
    """Unpack a part; return whether it is what was written."""
    private.make_file(folder / name)
    with archive.open(name) as source, (folder / name).open("wb") as target:
        return _copied(source, target) == (manifest.sizes[name], manifest.digests[name])


def _copied(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    """Copy all, and return how many bytes that were and their digest."""
    size, digest = 0, hashlib.sha256()
    while piece := source.read(_PIECE):
        size += target.write(piece)
        digest.update(piece)
    target.flush()
    os.fsync(target.fileno())
    return size, digest.hexdigest()


def _summed(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
