"""A registrar's file: who is in the class by it, line by line, and what it would change."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from grader.rules.values import Person

LARGEST_FILE = 4_000_000  # bytes; 10,000 rows of 400
LONGEST_EMAIL, LONGEST_NAME = 254, 200  # characters
_LONGEST_NUMBER = 200
_MOST_LINES = 50_000
_LONGEST_CELL = 1000  # characters; the rest of a cell is not looked at
_COLUMNS = ("email", "name", "section", "number", "lms_id")
_DELIMITERS = (",", ";", "\t")


class BadFile(ValueError):
    """The file as a whole cannot be read as a roster; the text says why."""


class RowFault(StrEnum):
    """What is wrong with a row: the first of these that applies."""

    BAD_EMAIL = "bad_email"
    DUPLICATE_EMAIL = "duplicate_email"
    UNKNOWN_SECTION = "unknown_section"
    NO_NAME = "no_name"
    LONG_NAME = "long_name"


class Move(StrEnum):
    """What a row changes, each row once: the first of these that applies."""

    NEW = "new"
    BACK = "back"
    MOVED = "moved"
    RENAMED = "renamed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One person of a file. `line` is where the row begins, 1 being the header's; the e-mail address is folded."""

    line: int
    email: str
    name: str
    section: str
    number: str = ""
    lms_id: str = ""


@dataclass(frozen=True, slots=True)
class RosterFile:
    """A file that was read: its rows without fault, the faults by line, and the columns that are not used."""

    rows: tuple[RosterRow, ...]
    faults: tuple[tuple[int, RowFault], ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """Somebody whom the class knows: a member, present or not, or its staff; or somebody from another class."""

    person: Person
    email: str
    name: str = ""
    section: str = ""
    number: str = ""
    lms_id: str = ""
    is_member: bool = True
    is_present: bool = True
    is_staff: bool = False


@dataclass(frozen=True, slots=True)
class RosterChange:
    """What a file would change: each row with whom it means (None: somebody new), and who would leave."""

    rows: tuple[tuple[RosterRow, Move, Person | None], ...]
    left: tuple[Person, ...]
    present: int

    @property
    def must_be_confirmed(self) -> bool:
        """Whether so many would leave that their number is to be typed: more than 10, or more than 5 %."""
        return len(self.left) > 10 or 20 * len(self.left) > self.present

    def count(self, move: Move) -> int:
        """Return how many rows make this change."""
        return sum(one is move for _, one, _ in self.rows)


def fold(email: str) -> str:
    """Return an e-mail address as people are told apart by it: lower case, without what cannot be seen."""
    return _visible(email).lower()


def is_email(email: str) -> bool:
    """Return whether this may be an address: one @, something before it, a dot inside what follows, no space."""
    name, at, host = email.partition("@")
    has_parts = bool(name and at) and "@" not in host and "." in host.strip(".") and host == host.strip(".")
    return has_parts and not any(map(str.isspace, email)) and len(email) <= LONGEST_EMAIL


def read_roster(content: bytes | str, sections: Collection[str]) -> RosterFile:
    """Read a CSV file with commas, semicolons or tabs; a text in UTF-8, with a mark or without, or in cp1252.

    Args:
        content: the file.
        sections: the class's. A class without any takes an empty one.

    Raises:
        BadFile: it is too large, no text, or has no column `email` or `name`.
    """
    text = decoded(content)
    header, rows = table_of(text, _COLUMNS)
    columns = {name: header.index(name) for name in _COLUMNS if name in header}
    for name in ("email", "name"):
        if name not in columns:
            raise BadFile(f"there is no column `{name}`; the columns are {', '.join(filter(None, header)) or 'none'}")
    found: list[RosterRow] = []
    faults: list[tuple[int, RowFault]] = []
    seen: set[str] = set()
    for line, cells in rows:
        given = {name: _visible(cells[place]) for name, place in columns.items() if place < len(cells)}
        given |= {name: given[name][:_LONGEST_NUMBER] for name in ("number", "lms_id") if name in given}
        row = RosterRow(line, **{"name": "", "section": "", **given, "email": fold(given.get("email", ""))})
        fault = _fault(row, seen, sections)
        seen.add(row.email)
        if fault is None:
            found.append(row)
        else:
            faults.append((line, fault))
    ignored = tuple(name for name in header if name and name not in _COLUMNS)
    return RosterFile(tuple(found), tuple(faults), ignored)


def compare(roster: RosterFile, known: Sequence[KnownPerson]) -> RosterChange:
    """Return what a roster changes for a class of `known` people.

    A row means whom it names by the platform's id, else by number, else by e-mail address; never by name. Students who
    are in no row leave; staff never do, and stay as they are.
    """
    by = {key: {getattr(one, key): one for one in known if getattr(one, key)} for key in ("lms_id", "number", "email")}
    rows: list[tuple[RosterRow, Move, Person | None]] = []
    for row in roster.rows:
        candidates = (by[key].get(getattr(row, key)) for key in ("lms_id", "number", "email"))
        whom = next((one for one in candidates if one is not None), None)
        rows.append((row, _move(row, whom), whom.person if whom else None))
    meant = {person for _, _, person in rows}
    students = [one.person for one in known if one.is_member and one.is_present and not one.is_staff]
    return RosterChange(tuple(rows), tuple(one for one in students if one not in meant), len(students))


def _move(row: RosterRow, whom: KnownPerson | None) -> Move:
    if whom is not None and whom.is_staff:
        return Move.UNCHANGED
    if whom is None or not whom.is_member:
        return Move.NEW
    if not whom.is_present:
        return Move.BACK
    if row.section != whom.section:
        return Move.MOVED
    return Move.RENAMED if row.name != whom.name else Move.UNCHANGED


def _fault(row: RosterRow, seen: Collection[str], sections: Collection[str]) -> RowFault | None:
    if not is_email(row.email):
        return RowFault.BAD_EMAIL
    if row.email in seen:
        return RowFault.DUPLICATE_EMAIL
    if row.section not in (sections or ("",)):
        return RowFault.UNKNOWN_SECTION
    if not row.name:
        return RowFault.NO_NAME
    return RowFault.LONG_NAME if len(row.name) > LONGEST_NAME else None


def decoded(content: bytes | str) -> str:
    """Return a file as text: UTF-8 with a mark or without, or cp1252.

    Raises:
        BadFile: it is too large, or no text.
    """
    if len(content) > LARGEST_FILE:
        raise BadFile(f"the file has {len(content):,} bytes; at most {LARGEST_FILE:,} are read")
    if isinstance(content, bytes):
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
    else:
        text = content
    if "\0" in text:
        raise BadFile("the file holds a NUL, so it is no text; save it as CSV in UTF-8")
    return text.removeprefix("\ufeff")


def table_of(text: str, columns: Collection[str]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header in lower case, and the rows that are not empty with the line at which each begins.

    The delimiter is the one by which most of `columns` are found.

    Raises:
        BadFile: it is no CSV, or has too many lines.
    """
    heads = {delimiter: _names(next(_records(text, delimiter), (1, []))[1]) for delimiter in _DELIMITERS}
    delimiter = max(heads, key=lambda one: sum(name in columns for name in heads[one]))
    rows = [(line, cells) for line, cells in _records(text, delimiter) if any(cell.strip() for cell in cells)]
    return heads[delimiter], [row for row in rows if row[0] > 1]


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line at which it begins."""
    csv.field_size_limit(LARGEST_FILE)
    reader, before = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 0
    try:
        for cells in reader:
            if before >= _MOST_LINES:
                raise BadFile(f"it has more than {_MOST_LINES:,} lines")
            yield before + 1, cells
            before = reader.line_num
    except csv.Error as broken:
        raise BadFile(f"line {before + 1} is no CSV: {broken}") from broken


def _names(cells: Sequence[str]) -> list[str]:
    return [_visible(name).lower() for name in cells]


def _visible(text: str) -> str:
    """Return a text without what cannot be seen: marks of direction, controls, blanks around it; in composed form.

    Joiners between letters are kept, which some scripts need.
    """
    kept = (c for c in text if c in "\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    # Composing a row of accents takes the square of its length.
    return unicodedata.normalize("NFC", "".join(kept)[:_LONGEST_CELL]).strip()
