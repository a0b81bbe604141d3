"""A registrar's file as the text of a CSV: one in any of the usual encodings, or the first sheet of an .xlsx."""

from __future__ import annotations

import io
import subprocess
import zipfile

from grader import search_path
from grader.rules.roster import LARGEST_FILE, BadFile, decoded

TIMEOUT = 30.0  # seconds, in which another process reads it
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
    try:
        done = subprocess.run(
            search_path.isolated("grader.sheet_process", "main", str(LARGEST_FILE)),
            input=content,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        raise BadFile("its first sheet cannot be read, or is too large; save it as CSV in UTF-8") from None
    return done.stdout.decode()


def _check_unpacked(content: bytes) -> None:
    """Refuse an archive that says of itself that it becomes huge."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as broken:
        raise BadFile(f"it is no .xlsx that can be read ({broken})") from None
    if size > _LARGEST_UNPACKED:
        raise BadFile(f"it holds {size:,} bytes unpacked; at most {_LARGEST_UNPACKED:,} are read")
