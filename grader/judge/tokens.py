"""Splits a source text into tokens in time that grows with its length alone, whatever stands in it.

Python's own `tokenize` starts anew behind each quote that is never closed, so it needs the square of the length. Here a
token takes all that was looked at: no repetition gives back what it took (`++`, `*+`, `(?>…)`), and a string without an
end goes to the end of its line, or of the text. What is no Python comes out as some tokens or other, never as an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    \#[^\n]*+
    | (?i:[rbuf]{0,2}+) (?:
        \"\"\" (?: [^"\\]++ | \\(?:.|\Z) | "(?!"") )*+ (?: \"\"\" | \Z )
        | '''  (?: [^'\\]++ | \\(?:.|\Z) | '(?!'') )*+ (?: ''' | \Z )
        | "    (?: [^"\\\n]++ | \\(?:.|\Z) )*+ (?: " | (?=\n) | \Z )
        | '    (?: [^'\\\n]++ | \\(?:.|\Z) )*+ (?: ' | (?=\n) | \Z )
    )
    | (?:[^\W\d]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*+
    | \d[\w.]*+
    | \S
    """,
    re.DOTALL | re.VERBOSE,
)


def tokens(text: str) -> Iterator[str]:
    """Yield the names, numbers, strings with their prefix, comments and single signs of a source text."""
    # Python ends a line, and so a comment, at a carriage return as well.
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return (found[0] for found in _TOKEN.finditer(plain))


def is_text(token: str) -> bool:
    """Return whether a token is a string."""
    return token[-1] in "\"'" or token.lstrip("rbufRBUF")[:1] in ("'", '"')


def is_name(token: str) -> bool:
    """Return whether a token is a name or a keyword."""
    return (token[0].isalpha() or token[0] == "_" or not token[0].isascii()) and not is_text(token)
