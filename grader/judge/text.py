"""Makes text that a student controls harmless to show: no control, bidirectional or invisible characters."""

from __future__ import annotations

import unicodedata

from grader.checks.finding import cut

_KEPT = "\n\t"
_MARKED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def clean(text: str, *, limit: int = 10_000) -> str:
    """Return `text` with every invisible character written out (`<U+202E>`), cut to `limit` characters."""
    short = cut(text, limit)
    if short.isprintable():
        return short
    hidden = (one not in _KEPT and unicodedata.category(one) in _MARKED for one in short)
    return "".join(f"<U+{ord(one):04X}>" if hide else one for one, hide in zip(short, hidden, strict=True))


def one_line(text: str, *, limit: int = 10_000) -> str:
    """Return `text`, a name from outside, on one line: what ends a line is written out as well."""
    return clean(text, limit=limit).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def capitalised(text: str) -> str:
    """Return `text` with a capital letter at its beginning, and nothing else changed."""
    return text[:1].upper() + text[1:]
