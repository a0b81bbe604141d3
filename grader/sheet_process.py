"""Reads a workbook in a process of its own, which has little memory: a sheet of 1 kB may say that it has 2^34 cells.

The workbook comes on standard input, and the rows of its first sheet go to standard output as CSV.
"""

from __future__ import annotations

import csv
import io
import resource
import sys
from datetime import date, time, timedelta

MEMORY = 1 << 30  # bytes
SECONDS = 20  # of the processor


def main(most: int) -> None:
    """Read, and write at most `most` characters; what is too large ends with an exit code other than 0."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import python_calamine  # after the limits

    content = sys.stdin.buffer.read()
    with python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False) if book.sheet_names else []
    file = io.StringIO()
    csv.writer(file).writerows([_written(cell) for cell in row] for row in rows)
    text = file.getvalue()
    if len(text) > most:
        raise SystemExit(f"it has {len(text):,} characters")
    sys.stdout.buffer.write(text.encode(errors="replace"))


def _written(cell: str | float | bool | date | time | timedelta) -> str:
    """Return a cell as a registrar reads it: a student number that the sheet holds as a number has no decimals.

    A line's end in a cell would shift the numbers of all lines below.
    """
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return " ".join(str(cell).splitlines())
