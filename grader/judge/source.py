"""Decides whether what was handed in is a source text at all, without running or parsing it."""

from __future__ import annotations

import re

from grader.errors import Rejected
from grader.judge.notebook import python_of
from grader.judge.tokens import tokens

_SINGLE = {"float32", "FloatTensor"}
# What `finfo` is asked for is left: the lowest number of float32 is a fill value, and that of float64 overflows sooner.
_ASKS = re.compile(r"finfo\(\s*+(?:\w++\.)?+float(?:32)?+\b|float32|FloatTensor|(?<=\.)float\b")
_IN_DOUBLE = {"float32": "float64", "FloatTensor": "DoubleTensor", "float": "double"}


def read_source(source: str | bytes, *, limit_bytes: int) -> str:
    """Return the text of a submission: its Python, where it is a notebook.

    Raises:
        Rejected: it is empty, too long, not UTF-8, a broken notebook, or holds a NUL; the text says which, and where.
    """
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    if len(raw) > limit_bytes:
        limit = limit_bytes // 1024
        raise Rejected(f"your file is too long: at most {limit} KiB are allowed. Remove data and outputs")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(
            f"your file is not UTF-8 text (byte {error.start} is {raw[error.start]:#04x}); save it as UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Rejected(
            f"your file has a NUL character in line {line}, so it is not a text file; send the .py file itself"
        )
    if not text.strip():
        raise Rejected("your file is empty")
    return python_of(text)


def names_single_precision(text: str) -> bool:
    """Return whether the code (not its comments or strings) asks for float32 by name."""
    previous = ""
    for token in tokens(text):
        if token in _SINGLE or (token == "float" and previous == "."):
            return True
        previous = token
    return False


def in_double_precision(text: str) -> str:
    """Return the same code, asking for float64 wherever it asks for float32, in strings too."""
    return _ASKS.sub(lambda found: _IN_DOUBLE.get(found[0], found[0]), text)
