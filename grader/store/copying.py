"""Copies all that a database holds into an empty one, and proves that it arrived.

Both sides are in one transaction each: what fails leaves the target as empty as it was. Each table is read again at the
end; its number of rows and a digest over them, which does not depend on their order, must be those of the source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Column, Connection, Table, bindparam, delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from grader.errors import GraderFault
from grader.store import turns
from grader.store.tables import FIRST_CLASS, Base, ClassRow

AT_ONCE = 500  # rows
_DIGEST = 1 << 256
Line = tuple[Any, ...]


class CannotMove(GraderFault):
    """An installation cannot be carried to another database; the text says why, and both are as they were."""


def lasting() -> list[Table]:
    """Return the tables that a backup or a move carries, each behind those that it points at."""
    return [table for table in Base.metadata.sorted_tables if not table.info.get("passing")]


def copy(source: Session, target: Session) -> dict[str, int]:
    """Copy every row; return how many there are of each table.

    Args:
        source: of a transaction for which nothing changes meanwhile; on Postgres one that reads is enough.
        target: of a write transaction on a database with the same tables and nothing in them.

    Raises:
        CannotMove: there is something in the target, or it does not take a row, or what arrived is not what was sent.
    """
    turns.of_class(target)  # of two who copy at once, the second finds what the first has brought
    _check_empty(target)
    target.execute(delete(ClassRow))
    tables = lasting()
    sent = {table.name: _copy(table, source.connection(), target.connection()) for table in tables}
    for table in tables:
        _point_back(table, source.connection(), target.connection())
        _go_on_counting(table, source.connection(), target.connection())
    for table in tables:
        arrived = _summed(_lines(table, target.connection()))
        if arrived != sent[table.name]:
            raise CannotMove(
                f"of table {table.name}, {sent[table.name][0]} rows were sent and {arrived[0]} arrived, or other ones"
            )
    return {name: number for name, (number, _) in sent.items()}


def _check_empty(target: Session) -> None:
    for table in lasting():
        others = (ClassRow.id != FIRST_CLASS,) if table is ClassRow.__table__ else ()  # each database begins with one
        found = target.scalar(select(func.count()).select_from(table).where(*others))
        if found:
            raise CannotMove(
                f"the database to move to is not empty: its table {table.name} has {found} rows; expected: a new one"
            )


def _copy(table: Table, source: Connection, target: Connection) -> tuple[int, int]:
    """Copy a table, without what points at tables that come later; return the sum of the whole lines."""
    later = {column.name: None for column in _pointing_back(table)}
    number, digest = 0, 0
    for lines in _lines(table, source):
        rows = [dict(zip(table.columns.keys(), line, strict=True)) | later for line in lines]
        try:
            target.execute(insert(table), rows)
        except DBAPIError as refusal:
            raise CannotMove(f"table {table.name} does not take a row: {refusal.orig}") from None
        found = _summed([lines])
        number, digest = number + found[0], (digest + found[1]) % _DIGEST
    return number, digest


def _point_back(table: Table, source: Connection, target: Connection) -> None:
    for column in _pointing_back(table):
        (key,) = table.primary_key.columns
        pairs = source.execute(select(key, column).where(column.is_not(None)).execution_options(yield_per=AT_ONCE))
        change = update(table).where(key == bindparam("at")).values({column: bindparam("to")})
        for some in pairs.partitions():
            target.execute(change, [{"at": at, "to": to} for at, to in some])


def _pointing_back(table: Table) -> list[Column[Any]]:
    return [column for column in table.columns if any(key.use_alter for key in column.foreign_keys)]


def _go_on_counting(table: Table, source: Connection, target: Connection) -> None:
    """Have ids given from where the source would go on: that of a deleted person is given to nobody else."""
    column = table.autoincrement_column
    last = 0 if column is None else _last_id(table, column, source)
    if column is None or not last:
        return
    if target.dialect.name == "postgresql":
        target.execute(text(f"SELECT setval('{_sequence(table, column, target)}', :last)"), {"last": last})
    elif table.dialect_options["sqlite"]["autoincrement"]:
        target.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        row = {"name": table.name, "last": last}
        target.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), row)


def _last_id(table: Table, column: Column[Any], source: Connection) -> int:
    """Return the last id that was given, whether its row is still there or not; 0 for none."""
    if source.dialect.name == "postgresql":
        query = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {_sequence(table, column, source)}"
        return int(source.scalar(text(query)))
    if table.dialect_options["sqlite"]["autoincrement"]:
        found = source.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        return found or 0
    return source.scalar(select(func.max(column))) or 0


def _sequence(table: Table, column: Column[Any], connection: Connection) -> str:
    return str(connection.scalar(select(func.pg_get_serial_sequence(table.name, column.name))))


def _lines(table: Table, connection: Connection) -> Iterator[list[Line]]:
    """Yield the rows of a table, some at a time, as Postgres can hold them: without a zero in a text."""
    found = connection.execute(select(table).execution_options(yield_per=AT_ONCE))
    for some in found.partitions():
        yield [tuple(_storable(value) for value in line) for line in some]


def _storable(value: object) -> object:
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def _summed(parts: Iterable[list[Line]]) -> tuple[int, int]:
    """Return the number of rows, and the sum of their hashes."""
    number, digest = 0, 0
    for lines in parts:
        for line in lines:
            number += 1
            digest = (digest + int.from_bytes(hashlib.sha256(repr(line).encode()).digest(), "big")) % _DIGEST
    return number, digest
