"""Tables as CSV, whose cells a spreadsheet takes for text and numbers, never for formulas."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads no accents in a file that is opened by a click
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def quoted(text: str) -> str:
    """Return `text` with an apostrophe before what a spreadsheet would run, however wide or far in it is written."""
    plain = unicodedata.normalize("NFKC", text)
    risky = plain.startswith(_FORMULA) or plain.lstrip().startswith(_FORMULA)
    return f"'{text}" if risky else text


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV; whatever is text in them went through `quoted` before."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
