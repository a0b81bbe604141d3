"""What a name looks like: two names with a look in common are taken for each other by whoever reads a list.

The skeleton of Unicode's security mechanisms (UTS #39), with Unicode's own table of confusable characters, which
`confusable-homoglyphs` brings along. It is coarser than the standard where a reader of names is: accents are read over,
small and boxed capitals are letters, case makes no difference, and a digit is read by its value or by its shape.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping

# Small capitals, and letters in boxes and circles, as far as no normalization undoes them.
_LETTER = re.compile(r"(?:LATIN|SYMBOL) (?:CAPITAL |SMALL )?LETTER (?:SMALL CAPITAL )?([A-Z])$")
_ACCENTS = frozenset({1, *range(10, 37), *range(200, 241)})  # combining classes; others make another letter, as in Kana
_STROKE = "l"  # the shape of a capital I, a small l, a one and a bar
_LEFT_OUT = {"ĸ": "k", "ʍ": "M", "ー": "-", "リ": "り"}  # what names need, and the table lacks
_REMEMBERED = 1 << 16  # names


@functools.lru_cache(_REMEMBERED)
def skeleton(name: str) -> frozenset[str]:
    """Return the ways in which a name may be read; they are only ever compared, and never stored or shown."""
    by_value = name if name.isascii() else "".join(str(unicodedata.decimal(c, c)) for c in name)
    return frozenset(look for spelled in {name, by_value} for look in _read(spelled))


def _read(name: str) -> Iterator[str]:
    """Yield a name as it looks; with its capital I read as i; and, if there are capitals only, with each stroke so."""
    yield _skeleton(name)
    if _STROKE not in map(_shape, name):
        return
    yield _skeleton("".join("i" if _shape(c) == _STROKE and _is_upright(c) else c for c in name))
    if not any(letter.islower() for letter in _shapes(name).replace(_STROKE, "")):
        yield _skeleton("".join("i" if _shape(c) == _STROKE else c for c in name))


def _is_upright(character: str) -> bool:
    """Return whether a stroke can be a capital I: it is a capital, or of a script that has no case."""
    return unicodedata.category(character) in ("Lu", "Lo")


def _skeleton(name: str) -> str:
    return _shapes(_shapes(name).casefold()).replace("vv", "w")  # Unicode's table has m for rn, and no w


def _shapes(text: str) -> str:
    return "".join(map(_shape, text))


@functools.cache  # there are no more than characters
def _shape(character: str) -> str:
    """Return the plainest characters that look like one; nothing for accents and what is not seen."""
    if _is_read_over(character):
        return ""
    plain = unicodedata.normalize("NFKD", character)
    if plain == character:
        plain = _prototypes().get(character, character)
    if plain != character:
        return _shapes(plain)
    found = _LETTER.search(unicodedata.name(character, ""))
    return found[1] if found and not character.isascii() else character


def _is_read_over(character: str) -> bool:
    if unicodedata.category(character) in ("Cf", "Cc") or unicodedata.combining(character) in _ACCENTS:
        return True
    return unicodedata.name(character, "").startswith(("VARIATION SELECTOR", "COMBINING GRAPHEME"))


@functools.cache
def _prototypes() -> Mapping[str, str]:
    """Return the character, or the few, that Unicode has for all those that look like them."""
    # Reading its tables takes a moment and some megabytes, which only who registers somebody needs.
    from confusable_homoglyphs.confusables import confusables_data as alike  # type: ignore[import-untyped] # has none

    found = dict(_LEFT_OUT)
    for key, entries in alike.items():
        # The table holds each pair both ways: what looks like one other text only is what has a prototype.
        if len(entries) > 1 or not _stands_alone(key := _unmarked(key)):
            continue
        prototype = unicodedata.normalize("NFKD", _unmarked(entries[0]["c"]))
        if len(alike[entries[0]["c"]]) > 1 or len(prototype) > 1 or prototype < key:
            found.setdefault(key, prototype)
    return found


def _stands_alone(key: str) -> bool:
    return len(key) == 1 and unicodedata.normalize("NFKD", key) == key


def _unmarked(text: str) -> str:
    """Return a text of the table without the marks that it holds for writing from right to left."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")
