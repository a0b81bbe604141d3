"""Makes text that a student controls harmless to show: no control, bidirectional or invisible characters."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"
_MARKED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def clean(text: str, *, limit: int = 10_000) -> str:
    """Return `text` with every invisible character written out (`<U+202E>`), cut at `limit` characters."""
    cut = text if len(text) <= limit else text[:limit] + " … (cut)"
    return cut if cut.isprintable() else "".join(_visible(character) for character in cut)


def _visible(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _MARKED:
        return character
    return f"<U+{ord(character):04X}>"
