"""A dump: all that a database keeps, in one file that any database of this program can be filled with.

It is a zip with two parts. `rows.jsonl` has a line for each row, a JSON array of its values (bytes in base64), table
after table in the order in which they can be filled. `manifest.json` says which tables and columns these are, how many
rows each has and a digest over them, the revision of the tables, and the keys that are kept beside the database. The
file is made for its owner alone, since it holds whatever the database holds.

The tables themselves are made by our migrations, never by the file, so nothing in it can bring a trigger or a view.
Covered: damage, a file that is no dump, one of a newer form, other tables or columns than those of its revision, and
values of another type than those have; and what has arrived is read again and compared. Not covered: changed rows, as
scores, with digests that fit.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Table, column, delete, func, insert, inspect, select, text
from sqlalchemy import table as named_table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from grader.errors import GraderFault
from grader.store import keys, private, turns
from grader.store.tables import INITIAL_CLASS, Base, ClassRow

MANIFEST, ROWS = "manifest.json", "rows.jsonl"
KEPT = (keys.SECRET, keys.CLASS_CODE)  # what the data directory has and the database has not
FORMAT = 2
AT_ONCE, BYTES_AT_ONCE = 500, 8 << 20  # rows that are stored together, and bytes of their lines
_READ_AT_ONCE = 20  # rows, since nobody knows before how long they are
_LONGEST_MANIFEST, _LONGEST_LINE = 64 << 10, 64 << 20  # bytes
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes before a byte is unpacked
_JSON = (("gradings", "report"),)  # columns of texts that are JSON objects
_WORDS = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    bytes: "bytes",
    type(None): "nothing",
}
_INTEGERS = range(-(1 << 63), 1 << 63)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, AttributeError, RuntimeError)


class DumpRefused(GraderFault):
    """A dump cannot be made or loaded; the text says why, and everything is as it was."""


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The rows of one table.

    Attributes:
        table, columns: whose.
        rows: how many.
        digest: of their lines, in whatever order, in hexadecimal.
        last_id: the last id that was given in the table, whether its row is still there or not; 0 for none.
    """

    table: str
    columns: list[str]
    rows: int
    digest: str
    last_id: int = 0


@dataclass(frozen=True, slots=True)
class DumpManifest:
    """What a dump says of itself.

    Attributes:
        format: of the file.
        made: when, UTC, as ISO 8601.
        program: the version that made it.
        revision: of the tables.
        parts: of the rows, in their order.
        kept: the texts of `KEPT`, as far as they are there.
    """

    format: int
    made: str
    program: str
    revision: str
    parts: list[DumpPart]
    kept: dict[str, str] = field(repr=False)

    @property
    def rows(self) -> dict[str, int]:
        """How many rows there are of each table."""
        return {part.table: part.rows for part in self.parts}


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a database as it is, and what its values must be."""

    table: str
    name: str
    kind: type
    is_needed: bool

    def refusal(self, seen: str) -> str:
        expected = _WORDS[self.kind] + ("" if self.is_needed else " or nothing")
        return f"column {self.name} of table {self.table} holds {seen}; expected: {expected}"


def lasting() -> list[Table]:
    """Return the tables that a dump holds, each behind those that it points at."""
    return [table for table in Base.metadata.sorted_tables if not table.info.get("passing")]


def write(session: Session, file: Path, *, kept: Mapping[str, str], program: str, revision: str) -> DumpManifest:
    """Write a dump of one snapshot.

    The session sees one, on a database of this version. Beside it the file has the keys in `kept`, by their names in
    `KEPT`, and the versions of the program and of its tables.

    Raises:
        DumpRefused: there is something at `file`, it cannot be written, or a value in the database could not be loaded.
    """
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, private.FILE_MODE)
    except FileExistsError:
        raise DumpRefused(f"there is something at {file}: it is there already; name a file that is not") from None
    except OSError as error:
        raise DumpRefused(f"{file} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w+b") as out:
            manifest = _write(session.connection(), out, kept=dict(kept), program=program, revision=revision)
            out.flush()
            os.fsync(out.fileno())
    except BaseException as error:
        file.unlink()  # half a dump is none
        if isinstance(error, OSError):
            raise DumpRefused(f"{file} cannot be written: {error.strerror}") from error
        raise
    return manifest


def _write(
    connection: Connection, out: IO[bytes], *, kept: dict[str, str], program: str, revision: str
) -> DumpManifest:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(ROWS, "w", force_zip64=True) as lines:
            parts = []
            for table in lasting():
                columns = table.columns.keys()
                number, digest = _summed(_lines(connection, table.name, columns), lines.write)
                parts.append(DumpPart(table.name, columns, number, digest, _last_id(table, connection)))
        made = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = DumpManifest(FORMAT, made, program, revision, parts, kept)
        archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


@contextmanager
def opened(file: Path) -> Iterator[tuple[DumpManifest, IO[bytes]]]:
    """Give the manifest of a dump, and its lines, which `load` reads.

    Raises:
        DumpRefused: it is no dump, is damaged, of another form, or larger than the disk has room for.
    """
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(file))
            if any(archive.getinfo(name).compress_type not in _METHODS for name in (MANIFEST, ROWS)):
                raise ValueError("it is compressed in another way")
            if archive.getinfo(MANIFEST).file_size > _LONGEST_MANIFEST:
                raise ValueError(f"its {MANIFEST} is too long")
            manifest = _manifest(json.loads(archive.read(MANIFEST)), file)
            needed, free = archive.getinfo(ROWS).file_size, shutil.disk_usage(file.parent).free
            if needed > free:  # a zip of 1 MB can hold 1 GB
                raise DumpRefused(f"its rows have {needed} bytes, where {file.parent} has room for {free}")
            lines = stack.enter_context(io.BufferedReader(archive.open(ROWS)))  # type: ignore[type-var]
        except FileNotFoundError:
            raise DumpRefused(f"there is no backup {str(file)!r}") from None
        except _DAMAGE as error:
            raise DumpRefused(f"{file} is no backup, or is damaged: {error}") from None
        except OSError as error:
            raise DumpRefused(f"{file} cannot be read: {error.strerror}") from None
        yield manifest, lines


def _manifest(document: dict[str, Any], file: Path) -> DumpManifest:
    if document["format"] == 1:
        raise DumpRefused(f"{file} has form 1, of a version before 1.0.0, which alone can restore it")
    if document["format"] != FORMAT:
        raise DumpRefused(
            f"{file} has form {document['format']}, where {FORMAT} is known here; install a newer version"
        )
    manifest = DumpManifest(**{**document, "parts": [DumpPart(**part) for part in document["parts"]]})
    numbers = [number for part in manifest.parts for number in (part.rows, part.last_id)]
    names = [name for part in manifest.parts for name in (part.table, *part.columns)]
    texts = [*names, manifest.revision, manifest.program, *manifest.kept.values()]
    if not all(type(number) is int and number in _INTEGERS for number in numbers):
        raise ValueError("its numbers are none")
    if not all(isinstance(one, str) for one in texts) or not set(manifest.kept) <= set(KEPT):
        raise ValueError("it has other parts")
    return manifest


def load(session: Session, manifest: DumpManifest, lines: IO[bytes]) -> None:
    """Fill an empty database, and prove that all has arrived.

    It has the tables of that revision and nothing in them; manifest and lines are as `opened` gives them.

    Raises:
        DumpRefused: there is something in the database, a line is not what was written or of another type, or the
            database does not take it, or makes something else of it.
    """
    connection = session.connection()
    turns.of_class(session)  # of two who fill it at once, the second finds what the first has brought
    _check_empty(session)
    session.execute(delete(ClassRow))
    if strange := _other_tables(connection, manifest):
        raise DumpRefused(
            f"the backup was not written by this program, or was changed since: {strange}; take another one"
        )
    for part in manifest.parts:
        try:
            number, digest = _fill(connection, part, lines)
        except _DAMAGE as error:
            raise DumpRefused(f"the backup is damaged: {error}") from None
        if (number, digest) != (part.rows, part.digest):
            raise DumpRefused(f"the backup is damaged: table {part.table} in it is not what was written")
    if lines.read(1):
        raise DumpRefused("the backup is damaged: it has more lines than it says")
    # One key is looked at when the transaction ends; a Postgres is filled from a database in which all keys fit.
    if connection.dialect.name == "sqlite" and (lost := connection.execute(text("PRAGMA foreign_key_check")).all()):
        raise DumpRefused(f"the backup is damaged: {len(lost)} rows point at nothing: {lost[:3]}")
    for part in manifest.parts:
        _go_on_counting(part, connection)
        number, digest = _summed(_lines(connection, part.table, part.columns))
        if (number, digest) != (part.rows, part.digest):
            raise DumpRefused(f"of table {part.table}, {part.rows} rows were sent and {number} arrived, or other ones")


def _check_empty(session: Session) -> None:
    for table in lasting():
        others = (ClassRow.id != INITIAL_CLASS,) if table is ClassRow.__table__ else ()  # each database begins with one
        number = session.scalar(select(func.count()).select_from(table).where(*others))
        if number:
            raise DumpRefused(
                f"the database to fill is not empty: its table {table.name} has {number} rows; expected: a new one"
            )


def _other_tables(connection: Connection, manifest: DumpManifest) -> str:
    """Return in words where the tables of a dump are not those of the database that is to take it."""
    passing = {table.name for table in Base.metadata.sorted_tables} - {table.name for table in lasting()}
    expected = sorted(set(inspect(connection).get_table_names()) - passing - {private.VERSION_TABLE})
    found = sorted(part.table for part in manifest.parts)
    if found != expected:
        return f"its tables are {', '.join(found)}; expected: {', '.join(expected)}"
    for part in manifest.parts:
        known = _columns(connection, part.table)
        if sorted(part.columns) != sorted(known):
            return f"the columns of table {part.table} are {', '.join(part.columns)}; expected: {', '.join(known)}"
    return ""


def _fill(connection: Connection, part: DumpPart, lines: IO[bytes]) -> tuple[int, str]:
    """Store the rows of a part; return how many there were, and the digest of their lines."""
    columns = list(map(_columns(connection, part.table).__getitem__, part.columns))
    statement = insert(named_table(part.table, *(column(name) for name in part.columns)))
    rows: list[dict[str, object]] = []
    size = 0  # of their lines

    def store() -> None:
        try:
            connection.execute(statement, rows)
        except DBAPIError as refusal:
            raise DumpRefused(f"table {part.table} does not take a row: {refusal.orig}") from None
        rows.clear()

    def keep(line: bytes) -> None:
        nonlocal size
        rows.append(dict(zip(part.columns, _read(line, columns), strict=True)))
        size += len(line)
        if len(rows) == AT_ONCE or size >= BYTES_AT_ONCE:
            store()
            size = 0

    summed = _summed(islice(iter(lambda: lines.readline(_LONGEST_LINE), b""), part.rows), keep)
    if rows:
        store()
    return summed


def _read(line: bytes, columns: list[_Column]) -> list[object]:
    """Return the values of a line, each of the type of its column."""
    values = json.loads(line)
    if type(values) is not list or len(values) != len(columns):
        raise ValueError(f"a line of table {columns[0].table} has other columns")
    read = []
    for one, value in zip(columns, values, strict=True):
        if one.kind is bytes and type(value) is str:
            value = b64decode(value, validate=True)
        seen = _kind_fault(one, value)
        if not seen and one.kind is int and value is not None and value not in _INTEGERS:
            seen = "an integer of more than 64 bits"
        if not seen and (one.table, one.name) in _JSON and not _is_json_object(value):
            seen = "a text that is no JSON object"
        if seen:
            raise DumpRefused(f"the backup is damaged, or was changed since: {one.refusal(seen)}; take another one")
        read.append(value)
    return read


def _kind_fault(one: _Column, value: object) -> str:
    """Return in words what a value is instead of one of its column; empty for nothing."""
    if type(value) is not one.kind:
        return "" if value is None and not one.is_needed else _WORDS.get(type(value), "something else")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "a text that is no UTF-8"
    return ""


def _lines(connection: Connection, name: str, columns: list[str]) -> Iterator[bytes]:
    """Yield the rows of a table as lines, as every database can hold them: without a zero in a text."""
    known = [_columns(connection, name)[one] for one in columns]
    chosen: list[Any] = [column(one) for one in columns]  # without types: values as they are
    query = select(*chosen).select_from(named_table(name))
    for row in connection.execute(query.execution_options(yield_per=_READ_AT_ONCE)):
        values = [_portable(one, value) for one, value in zip(known, row, strict=True)]
        for one, value in zip(known, values, strict=True):
            if type(value) is not one.kind and (seen := _kind_fault(one, value)):
                raise DumpRefused(f"the database is damaged: {one.refusal(seen)}")
        plain = [b64encode(value).decode() if isinstance(value, bytes) else value for value in values]
        yield json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _portable(one: _Column, value: object) -> object:
    """Return a value as every database holds it; SQLite has integers for what is true or false."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return bool(value) if one.kind is bool and value in (0, 1) else value


def _columns(connection: Connection, name: str) -> dict[str, _Column]:
    return {
        one["name"]: _Column(name, one["name"], one["type"].python_type, not one["nullable"])
        for one in inspect(connection).get_columns(name)
    }


def _summed(lines: Iterator[bytes], keep: Callable[[bytes], object] = len) -> tuple[int, str]:
    """Hand each line on; return how many there were, and the sum of their hashes."""
    number, digest = 0, 0
    for line in lines:
        keep(line)
        number += 1
        digest = (digest + int.from_bytes(hashlib.sha256(line).digest())) % (1 << 256)
    return number, f"{digest:064x}"


def _last_id(table: Table, connection: Connection) -> int:
    """Return the last id that was given, whether its row is still there or not; 0 for none."""
    ids = table.autoincrement_column
    if ids is None:
        return 0
    if connection.dialect.name == "postgresql":
        query = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {_sequence(table.name, connection)}"
        return int(connection.scalar(text(query)))
    if table.dialect_options["sqlite"]["autoincrement"]:
        last = connection.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        return last if type(last) is int else 0
    return connection.scalar(select(func.max(ids))) or 0


def _go_on_counting(part: DumpPart, connection: Connection) -> None:
    """Have ids given from where the former database would go on: that of a deleted person is given to nobody else."""
    table = Base.metadata.tables.get(part.table)
    if not part.last_id or table is None:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT setval('{_sequence(part.table, connection)}', :last)"), {"last": part.last_id})
    elif table.dialect_options["sqlite"]["autoincrement"]:
        row = {"name": part.table, "last": part.last_id}
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": part.table})
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), row)


def _sequence(table: str, connection: Connection) -> str:
    return str(connection.scalar(select(func.pg_get_serial_sequence(table, "id"))))


def _is_json_object(value: str) -> bool:
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False
