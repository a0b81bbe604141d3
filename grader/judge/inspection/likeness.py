"""How much of a source text is torch's own multi-head attention, whatever its names were changed to."""

from __future__ import annotations

import functools
import keyword
import re
from pathlib import Path

import torch

from grader.judge.tokens import is_name, is_text, tokens

RUN = 14  # tokens that must follow each other; shorter runs are the common stock of anybody who writes Python
MANY = 60  # such runs in common: no right or wrong answer to any exercise has above 24, half of torch's function 366
_KEPT = frozenset(keyword.kwlist)
_PLACES = (  # where torch keeps it: the file, and the beginnings of what is taken from it
    ("nn/functional.py", ("def multi_head_attention_forward(", "def _in_projection_packed(", "def _in_projection(")),
    ("nn/modules/activation.py", ("class MultiheadAttention(",)),
)


def runs_in_common(text: str) -> int:
    """Return how many different runs of `RUN` tokens `text` shares with torch's own source; names count as equal."""
    return len(_runs(text) & _torchs())


@functools.cache
def _torchs() -> frozenset[tuple[str, ...]]:
    root = Path(torch.__file__).parent
    found: frozenset[tuple[str, ...]] = frozenset()
    for file, initial_weights in _PLACES:
        source = (root / file).read_text(encoding="utf-8")
        for beginning in initial_weights:
            _, _, rest = source.partition(f"\n{beginning}")
            found |= _runs(beginning + re.split(r"\n(?=[^\s)#])", rest, maxsplit=1)[0])
    return found


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    kinds = [_plain(token) for token in tokens(text) if token[0] != "#"]
    return frozenset(tuple(kinds[start : start + RUN]) for start in range(len(kinds) - RUN + 1))


@functools.lru_cache(maxsize=1 << 12)  # a text repeats most of its tokens
def _plain(token: str) -> str:
    """Return a token as it is compared: keywords and signs as they are, names, numbers and strings by their kind."""
    if is_text(token):
        return "text"
    if token[0].isdigit():
        return "0"
    return token if token in _KEPT or not is_name(token) else "name"
