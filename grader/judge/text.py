"""Makes text that a student controls harmless to show: no control, bidirectional or invisible characters."""

from __future__ import annotations

import unicodedata

from grader.checks.shortening import cut

_KEPT = "\n\t"
_MARKED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def clean(text: str, *, limit: int = 10_000) -> str:
    """Return `text` with every invisible character written out (`<U+202E>`), cut to `limit` characters."""
    short = cut(text, limit)
    return short if short.isprintable() else "".join(_visible(character) for character in short)


def one_line(text: str, *, limit: int = 10_000) -> str:
    """Return `text`, a name from outside, on one line: what ends a line is written out as well."""
    return clean(text, limit=limit).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def capitalised(text: str) -> str:
    """Return `text` with a capital letter at its beginning, and nothing else changed."""
    return text[:1].upper() + text[1:]


def _visible(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _MARKED:
        return character
    return f"<U+{ord(character):04X}>"
