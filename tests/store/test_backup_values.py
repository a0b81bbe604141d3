"""Values in a backup: each of the type that the schema says, since SQLite stores any value in any column."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.store import migrate
from grader.store.backup_file import BackupRefused, revision_in, strange_value
from grader.store.engine import Database
from grader.store.tables import Base
from tests.jobs.worked import fill

NOT_UTF8 = "CAST(x'ff41' AS TEXT)"
WRONG = {
    "VARCHAR": ("x'4142'", NOT_UTF8), "TEXT": ("x'4142'", NOT_UTF8), "INTEGER": ("'abc'", "x'01'", "1.5"),
    "BIGINT": ("'abc'", "x'01'", "1.5", NOT_UTF8), "FLOAT": ("'abc'", "x'00'"), "BLOB": ("'text'", "5", "0.5"),
    "": ("x'4142'",),
}  # fmt: skip
JSON = {("gradings", "report"), ("processes", "slots"), ("tryouts", "asked"), ("tryouts", "outcome")}


@pytest.fixture
def honest(tmp_path: Path) -> Path:
    """Give a database with rows in every table."""
    file = tmp_path / "honest.sqlite3"
    with closing(Database(f"sqlite:///{file}")) as database:
        migrate.upgrade(database)
        fill(database)
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode=DELETE")
        raw.execute("INSERT INTO buckets (id, missing, since, \"full\") VALUES ('b', 1, 2, 3)")
        raw.execute("INSERT INTO processes VALUES ('p', 'm', '{\"cpu\": 2}', 'v', '', 1)")
        raw.execute("INSERT INTO tryouts (id, asked, created) VALUES ('t', '{}', 1)")
        raw.execute("ANALYZE")
    return file


def cases(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each table and column with each wrong value, as SQL."""
    with closing(sqlite3.connect(file)) as raw:
        for (table,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table.startswith("sqlite_stat"):
                continue
            columns = raw.execute(f"PRAGMA table_info({table})").fetchall()
            for _, column, kind, needed, _, key in columns:
                if kind == "INTEGER" and key and sum(bool(one[5]) for one in columns) == 1:
                    continue  # the number of the row, which SQLite keeps as an integer in any case
                values = [*WRONG[kind.partition("(")[0]], *(["NULL"] if needed else [])]
                for value in values + (["'notjson'", "'[]'"] if (table, column) in JSON else []):
                    yield table, column, value


def changed(honest: Path, table: str, column: str, value: str) -> Path:
    """Return a copy of a database with one value changed, whatever its schema says against it."""
    file = honest.with_name("changed.sqlite3")
    shutil.copy(honest, file)
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute("PRAGMA synchronous=OFF")
        kept = raw.execute("SELECT sql, name FROM sqlite_master WHERE sql NOT NULL").fetchall()
        raw.execute("PRAGMA writable_schema=ON")
        raw.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = ?", [table])
        raw.execute(f"PRAGMA schema_version={raw.execute('PRAGMA schema_version').fetchone()[0] + 1}")
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute("PRAGMA synchronous=OFF")
        raw.execute("PRAGMA ignore_check_constraints=ON")
        first = f"WHERE rowid = (SELECT min(rowid) FROM {table})"
        assert raw.execute(f'UPDATE {table} SET "{column}" = {value} {first}').rowcount
        raw.execute("PRAGMA writable_schema=ON")
        raw.executemany("UPDATE sqlite_master SET sql = ? WHERE name = ?", kept)
        raw.execute(f"PRAGMA schema_version={raw.execute('PRAGMA schema_version').fetchone()[0] + 1}")
    return file


def test_a_value_of_another_type_is_named_wherever_it_is(honest: Path) -> None:
    """In each table and column: of each type that it may not have, nothing where something must be, no JSON."""
    missed, tried = {}, set()
    for table, column, value in cases(honest):
        found = strange_value(changed(honest, table, column, value))
        tried.add((table, column, value))
        if f"column {column} of table {table} holds " not in found or "; expected: " not in found or "\n" in found:
            missed[table, column, value] = found

    assert missed == {}
    assert {table for table, *_ in tried} == {*Base.metadata.tables, "alembic_version", "sqlite_sequence"}
    assert len(tried) > 250


def test_honest_values_are_accepted_at_each_revision(honest: Path, tmp_path: Path) -> None:
    """With rows in every table, and every table that there has been."""
    assert strange_value(honest) == ""
    for script in sorted(migrate.SCRIPTS.glob("versions/*.py")):
        file = tmp_path / f"{script.stem}.sqlite3"
        with closing(Database(f"sqlite:///{file}")) as database:
            migrate.upgrade(database, script.stem[:4])
        assert strange_value(file) == "", script


@pytest.mark.parametrize("value", [NOT_UTF8, "x'ff'", "17", "NULL"])
def test_a_revision_that_is_no_text_is_refused(honest: Path, value: str) -> None:
    """Before the schema is compared: as damage, or as one that is none."""
    file = changed(honest, "alembic_version", "version_num", value)
    if value == NOT_UTF8:
        with pytest.raises(BackupRefused, match="the database is damaged: "):
            revision_in(file)
    else:
        assert not migrate.knows(revision_in(file))
