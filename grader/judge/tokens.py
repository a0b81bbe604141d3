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


_HELP = re.compile(r"(?:\?{1,2}+[\w.*]++|(?<![\w.*])[\w.*]++\?{1,2}+)[^\S\n]*+(?=\n|\Z)")  # IPython describes the name
_MAGIC = re.compile(rf"^[^\S\n]*+(?:[%!]|{_HELP.pattern})", re.MULTILINE)  # where there is none there is no command


def tokens(text: str) -> Iterator[str]:
    """Yield the names, numbers, strings with their prefix, comments and single signs of a source text."""
    return (found[0] for found in _TOKEN.finditer(_with_newlines(text)))


def logical_lines(text: str) -> Iterator[list[str]]:
    """Yield the tokens of each line that ends outside of brackets, without comments and the signs that join lines."""
    return (line for _, line in numbered_lines(text))


def numbered_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the logical lines with the number of the line in which each begins, from 1."""
    plain = _with_newlines(text)
    line: list[str] = []
    depth, end, joined = 0, 0, False
    number, counted, first = 1, 0, 1
    for found in _TOKEN.finditer(plain):
        token, start = found[0], found.start()
        if line and depth == 0 and not joined and "\n" in plain[end:start]:
            yield first, line
            line = []
        depth = max(depth + (token in "([{") - (token in ")]}"), 0)
        end, joined = found.end(), token == "\\"
        if not joined and token[0] != "#":
            if not line:
                number, counted = number + plain.count("\n", counted, start), start
                first = number
            line.append(token)
    yield first, line


def _with_newlines(text: str) -> str:
    """Return a text with a newline for each end of a line: Python ends one, and a comment, at a carriage return too."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def magic(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each command for IPython begins and ends: `%`, `!` or `name?` where Python begins a statement.

    It ends with its line, or a later one where lines end in a backslash.
    """
    if _MAGIC.search(text) is None:
        return
    depth, end, joined = 0, 0, False
    while (found := _TOKEN.search(text, end)) is not None:
        token, start = found[0], found.start()
        begins = depth == 0 and not joined and (end == 0 or "\n" in text[end:start])
        if begins and (token in "%!" or _HELP.match(text, start)):
            end = start
            while (stop := text.find("\n", end)) > 0 and text[stop - 1] == "\\":
                end = stop + 1
            end = stop if stop >= 0 else len(text)
            yield start, end
            continue
        depth = max(depth + (token in "([{") - (token in ")]}"), 0)
        end, joined = found.end(), token == "\\"


def is_text(token: str) -> bool:
    """Return whether a token is a string."""
    return token[-1] in "\"'" or token.lstrip("rbufRBUF")[:1] in ("'", '"')


def is_name(token: str) -> bool:
    """Return whether a token is a name or a keyword."""
    return (token[0].isalpha() or token[0] == "_" or not token[0].isascii()) and not is_text(token)
