"""What is loaded from a dump: each value of the type that its column has, whoever has written the file."""

from __future__ import annotations

import base64
import hashlib
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.store import dump, migrate
from grader.store.dump import MANIFEST, ROWS, DumpRefused
from grader.store.engine import Database
from tests.jobs.worked import everything, fill

Rows = list[list[list[Any]]]  # by part, row and column
WRONG = {
    "INTEGER": ["abc", 1.5, True, 1 << 63], "BIGINT": [1.5, 1 << 63], "FLOAT": ["abc", 1], "VARCHAR": [5, "\ud800"],
    "TEXT": [5, "\ud800", {}], "BLOB": ["no base64", 5], "BOOLEAN": [1, "true"],
}  # fmt: skip


def rewritten(file: Path, change: Callable[[dict[str, Any], Rows], object]) -> Path:
    """Return a copy of a dump with its manifest or rows changed, and digests that fit."""
    with zipfile.ZipFile(file) as old:
        manifest, lines = json.loads(old.read(MANIFEST)), iter(old.read(ROWS).splitlines())
    rows = [[json.loads(next(lines)) for _ in range(part["rows"])] for part in manifest["parts"]]
    change(manifest, rows)
    other = file.with_name("other.zip")
    with zipfile.ZipFile(other, "w") as new:
        written = []
        for part, some in zip(manifest["parts"], rows, strict=True):
            own = [_line(row) for row in some]
            digest = sum(int.from_bytes(hashlib.sha256(line).digest()) for line in own) % (1 << 256)
            part["rows"], part["digest"] = len(own), f"{digest:064x}"
            written += own
        new.writestr(MANIFEST, json.dumps(manifest))
        new.writestr(ROWS, b"".join(written))
    return other


def _line(row: list[Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can name
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def load(file: Path, database: Database) -> None:
    with dump.opened(file) as (manifest, lines), database.write() as session:
        dump.load(session, manifest, lines)


@pytest.fixture
def honest(tmp_path: Path) -> Path:
    with closing(Database(f"sqlite:///{tmp_path / 'honest.sqlite3'}")) as database:
        migrate.upgrade(database)
        fill(database)
        with database.read() as session:
            dump.write(session, tmp_path / "honest.zip", kept={}, program="1", revision=migrate.head())
    return tmp_path / "honest.zip"


def cases(file: Path) -> Iterator[tuple[int, int, str, list[Any]]]:
    """Yield each part and column, by their numbers, with its name and what it may not hold."""
    with dump.opened(file) as (manifest, _):
        for number, part in enumerate(manifest.parts):
            columns = dump.Base.metadata.tables[part.table].columns
            for place, name in enumerate(part.columns):
                wrong = WRONG[str(columns[name].type).partition("(")[0]] + ([] if columns[name].nullable else [None])
                wrong += ["notjson", "[]"] if name == "report" else []
                yield number, place, f"column {name} of table {part.table} holds ", wrong


def test_a_value_of_another_type_is_named_wherever_it_is(honest: Path, database: Database) -> None:
    """In each table and column: of each type that it may not have, nothing where something must be, no JSON."""
    tried = 0
    for part, place, said, wrong in list(cases(honest)):
        for value in wrong:

            def change(_: object, rows: Rows) -> None:
                rows[part][0][place] = value  # noqa: B023 - made at once

            with pytest.raises(DumpRefused) as told:
                load(rewritten(honest, change), database)
            damage = value == "no base64"  # told as the encoding's fault
            assert damage or (said in str(told.value) and "; expected: " in str(told.value)), (said, value)
            tried += 1
    load(honest, database)

    assert tried > 200
    assert everything(str(database.engine.url)) != {}


def test_bytes_and_texts_come_back_as_they_were(honest: Path, database: Database) -> None:
    """A copy without changes is taken, and dumped again it is the same."""
    load(rewritten(honest, lambda *_: None), database)
    again = honest.with_name("again.zip")
    with database.read() as session:
        made = dump.write(session, again, kept={}, program="1", revision=migrate.head())

    with dump.opened(honest) as (manifest, _):
        assert made.parts == manifest.parts
    assert base64.b64encode(b"\x00\xff\x08") in zipfile.ZipFile(again).read(ROWS)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_that_is_compressed_in_another_way_is_no_backup(method: int, honest: Path) -> None:
    """LZMA names in its first bytes how much memory it wants, and its errors are of no kind that a zip's are."""
    other = honest.with_name("other.zip")
    with zipfile.ZipFile(honest) as old, zipfile.ZipFile(other, "w", method) as new:
        for name in (ROWS, MANIFEST):
            new.writestr(name, old.read(name))

    with pytest.raises(DumpRefused, match="is no backup, or is damaged"), dump.opened(other):
        pass


def test_memory_does_not_grow_with_the_length_of_the_rows(honest: Path, database: Database) -> None:
    """Long values that compress to nothing: a backup of one megabyte took one gigabyte of memory."""

    def lengthen(manifest: dict[str, Any], rows: Rows) -> None:
        tables = [part["table"] for part in manifest["parts"]]
        columns, users = manifest["parts"][tables.index("users")]["columns"], rows[tables.index("users")]
        for number in range(64):
            row: dict[str, Any] = dict(zip(columns, users[0], strict=True))
            row |= {"id": 1000 + number, "key": f"long {number}", "name": "x" * (1 << 20)}
            users.append([*row.values()])

    other = rewritten(honest, lengthen)
    tracemalloc.start()
    try:
        load(other, database)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 48 << 20
