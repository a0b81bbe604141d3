"""The file of a backup: a zip with a manifest, the database as a SQLite file, and the keys that are kept beside it.

The manifest names the size and the SHA-256 of each part. The file is made for its owner alone, since it holds whatever
the database holds. Covered: damage, a file that is no backup, a backup of a newer form. Not covered: somebody who
changes a backup on purpose; whoever can do that can change the database as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from grader.errors import GraderFault
from grader.store import keys, private

MANIFEST, CONTENT = "manifest.json", "database.sqlite3"
KEPT = ("secret", keys.CLASS_CODE)  # what the data directory has and the database has not
FORMAT = 1
_PIECE = 1 << 20  # bytes


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
            manifest = _manifest(json.loads(archive.read(MANIFEST)), file)
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


def check(content: Path) -> str | None:
    """Look through a SQLite file that nobody else uses, and leave it without files beside it; return its revision.

    Raises:
        BackupRefused: it is damaged, or a row points at nothing.
    """
    try:
        with closing(sqlite3.connect(content)) as connection:
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
