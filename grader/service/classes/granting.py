"""Exceptions for several people at once, from a file with a line for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grader.rules.roster import BadFile, decoded, table_of
from grader.rules.values import Field
from grader.service.classes.assigning import grant, previewed
from grader.service.classes.events import MOST_GRANTS, Grant, GrantAll
from grader.service.classes.requests import ClassRefusal, Request, bad_value, read
from grader.service.classes.spreadsheet import csv_text

COLUMNS = ("person", "assignment", "what", "value", "reason")
_YES, _NO = ("yes", "true", "1"), ("", "no", "false", "0")


def grant_all(asking: Request, event: GrantAll) -> Mapping[str, Any]:
    """Grant what each line of a file says, all of it or nothing, and return what that changes."""
    lines = list(_lines(event))
    done, found = previewed(asking, lambda: _granted(asking, lines), keep=not event.dry_run)
    return {"grants": done, **found}


def _granted(asking: Request, lines: list[tuple[int, Mapping[str, str]]]) -> list[Mapping[str, Any]]:
    """Grant each line; a refusal names all lines that are wrong."""
    errors: list[Mapping[str, Any]] = []
    first: dict[tuple[str | None, ...], int] = {}  # by what is granted, the line that does
    for line, row in lines:
        try:
            event = _event(asking, row)
            same = (event.person, event.assignment, event.field)
            if same in first:
                raise bad_value(f"Line {first[same]} grants this already.")
            grant(asking, event)
            first[same] = line
        except ClassRefusal as refusal:
            errors.append({"line": line, "person": row["person"], "code": refusal.code, "why": str(refusal)})
    if errors:
        wrong = f"{len(errors)} line{' is' if len(errors) == 1 else 's are'} wrong; nothing was granted."
        raise ClassRefusal("bad_rows", wrong, errors=errors)
    return [{"line": line, **row} for line, row in lines]


def _event(asking: Request, row: Mapping[str, str]) -> Grant:
    what, value = row["what"], row["value"]
    if what not in list(Field):
        raise bad_value(f"“{what[:20]}” cannot be granted; `what` is one of {', '.join(Field)}.")
    fields = {"person": row["person"], "assignment": row["assignment"] or None, "reason": row["reason"]}
    return read(Grant, {"class": asking.school_class.key, "field": what, "value": _value(what, value), **fields})


def _value(what: str, text: str) -> str | int | bool | None:
    """Return what a cell grants; nothing withdraws it."""
    if what == Field.EXCUSED and text.lower() in (*_YES, *_NO):
        return text.lower() in _YES or None
    if not text:
        return None
    if what == Field.DUE:
        return text.replace(" ", "T")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def _lines(event: GrantAll) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of the file by column, each with its line; a column that is missing is empty."""
    try:
        names, rows = table_of(csv_text(event.file) if event.file else decoded(event.csv), COLUMNS)
    except BadFile as broken:
        raise bad_value(f"This file cannot be read: {broken}.") from broken
    names = ["person" if name == "email" else name for name in names]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise bad_value(f"There is no column `{missing[0]}`; a file of exceptions has {', '.join(COLUMNS)}.")
    if not 0 < len(rows) <= MOST_GRANTS:
        raise bad_value(f"The file has {len(rows)} lines with exceptions; from 1 to {MOST_GRANTS} are taken.")
    for line, cells in rows:
        given = dict(zip(names, cells, strict=False))
        yield line, {name: given.get(name, "").strip() for name in COLUMNS}
