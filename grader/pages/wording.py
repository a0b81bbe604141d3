"""Text on its way to a page: strangers' text made harmless, and views packed for the browser.

The browser gets each part of a page as one line of JSON and builds it with `textContent`. A part never travels as
markup, as a template or as a dictionary: Gradio fills its HTML templates and then runs the result as a JavaScript
template literal (`${...}` in a student's name would be run), and looks in dictionaries for files to publish.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from grader.checks.finding import cut

View: TypeAlias = "str | int | float | bool | Sequence[View] | Mapping[str, View] | None"

_COMPACT = json.JSONEncoder(allow_nan=False, separators=(",", ":"))

# Controls but tab and newline; marks that turn the reading direction; characters nobody sees, but for the joiners
# that emoji and some scripts are written with; halves of a pair.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Marks above and below a letter: a heap of them covers the lines around.
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_HEAP = re.compile(f"(?<={_MARK}{{4}}){_MARK}+")  # without a group, which would be put back in Python


def clean(text: str, limit: int = 4000) -> str:
    """Return `text` without characters that hide or reorder it, cut to `limit` characters.

    Args:
        text: what a stranger wrote.
        limit: in characters; what is longer ends after a sentence or a word, with an ellipsis.
    """
    plain = _HEAP.sub("\ufffd", _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n")))
    return cut(plain, limit)


def pack(view: View) -> str:
    """Return `view` as one line of JSON that holds no markup even where it is read as HTML."""
    try:
        line = _COMPACT.encode(view)
    except (ValueError, TypeError):  # a number that JSON lacks, or a mapping that is no dict: both are rare
        line = _COMPACT.encode(_finite(view))
    return line.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(view: View) -> View:
    """Return `view` with null for the numbers that JSON lacks."""
    if isinstance(view, float):
        return view if math.isfinite(view) else None
    if isinstance(view, Mapping):
        return {key: _finite(value) for key, value in view.items()}
    if isinstance(view, Sequence) and not isinstance(view, str):
        return [_finite(value) for value in view]
    return view


def number(value: float) -> str:
    """Return points without needless decimals: 100, 12.5, 66.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def count(amount: int, noun: str) -> str:
    """Return `1 check`, `2 checks`."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def tone(earned: float, possible: float) -> str:
    """Return the colour of a score: `good` for all of it, `fair` from a half on, `poor` below."""
    if possible <= 0:
        return "none"
    if earned >= possible - 0.005:
        return "good"
    return "fair" if earned >= possible / 2 else "poor"


def bare(text: str) -> str:
    """Return a text as it is searched, as `bare` of the tables: capitals and accents make no difference."""
    parts = unicodedata.normalize("NFD", text.strip())
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()
