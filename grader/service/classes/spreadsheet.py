"""A registrar's file as the text of a CSV: one in any of the usual encodings, or the first sheet of an .xlsx."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date, time, timedelta

from grader.rules.roster import LARGEST_FILE, BadFile, decoded

_ZIP = b"PK\x03\x04"  # how each .xlsx begins
_LARGEST_UNPACKED = 64_000_000  # bytes: what 10,000 rows take as XML is a tenth of it


def csv_text(content: bytes) -> str:
    """Return a file as text with the rows of a CSV, each in its place: line numbers are those of the sheet.

    Raises:
        BadFile: it is too large, no text, or no sheet can be read in it.
    """
    if not content.startswith(_ZIP):
        return decoded(content)
    if len(content) > LARGEST_FILE:
        raise BadFile(f"the file has {len(content):,} bytes; at most {LARGEST_FILE:,} are read")
    _check_unpacked(content)
    import python_calamine  # here: whoever has a CSV needs none

    try:
        with python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            names = book.sheet_names
            rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False) if names else []
    except (python_calamine.CalamineError, OSError, ValueError) as broken:
        raise BadFile(f"its first sheet cannot be read ({broken}); save it as CSV in UTF-8") from None
    file = io.StringIO()
    csv.writer(file).writerows([_written(cell) for cell in row] for row in rows)
    return file.getvalue()


def _check_unpacked(content: bytes) -> None:
    """Refuse an archive that says of itself that it becomes huge."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as broken:
        raise BadFile(f"it is no .xlsx that can be read ({broken})") from None
    if size > _LARGEST_UNPACKED:
        raise BadFile(f"it holds {size:,} bytes unpacked; at most {_LARGEST_UNPACKED:,} are read")


def _written(cell: str | float | bool | date | time | timedelta) -> str:
    """Return a cell as a registrar reads it: a student number that the sheet holds as a number has no decimals.

    A line's end in a cell would shift the numbers of all lines below.
    """
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return " ".join(str(cell).splitlines())
