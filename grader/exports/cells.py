"""Tables as CSV, whose cells a spreadsheet takes for text and numbers, never for formulas.

Who opens such a file may have another separator than the comma: some countries' spreadsheets split at semicolons, and
then quotes hold nothing together. So no text has a formula after anything that may begin a cell.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads no accents in a file that is opened by a click
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")  # ends a line for some reader, or is a tab, or nothing to see
_SEPARATOR = re.compile(r"([,;|])")
_FORMULA = re.compile(r'\A[\s"]*[=+\-@]')


def quoted(text: str) -> str:
    """Return `text` with an apostrophe before whatever a spreadsheet would run, and with blanks for breaks and tabs.

    That is what begins with the sign of a formula, however wide it is written, at the beginning or after a comma, a
    semicolon or a bar: `x;=1+1` becomes `x;'=1+1`.
    """
    cells = _SEPARATOR.split(_BREAKS.sub(" ", text))
    return "".join(f"'{one}" if _FORMULA.match(unicodedata.normalize("NFKC", one)) else one for one in cells)


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV; whatever is text in them went through `quoted` before."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
