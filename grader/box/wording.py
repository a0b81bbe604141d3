"""Reads the words in a parameter's name: `toqueries`, `_W_q` and `attn_query_layer` all speak of queries.

`aliases` lists whole names, which decide at once. These words are for names that stand in no list: where they say
which of the contract's projections a parameter is, nothing else is tried for it.
"""

from __future__ import annotations

import re
from functools import cache

ROLES = {"W_query": "query", "W_key": "key", "W_value": "value", "W_out": "out"}
# Contracts without queries and keys of their own have them under other names; this only says what is tried first.
LIKELY = {"W1": ("key", "value"), "W2": ("query",), "v": ("value", "score"), "W": ("key", "query")}

_TOKENS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_EXACT = {
    "q": "query", "qs": "query", "k": "key", "ks": "key", "v": "value", "vs": "value", "o": "out",
}  # fmt: skip
_PARTS = {
    "quer": "query", "key": "key", "val": "value", "out": "out", "concat": "out", "combine": "out", "unify": "out",
    "merge": "out", "final": "out", "energy": "score", "score": "score",
}  # fmt: skip


@cache
def role(path: str) -> str:
    """Return what the last telling name of `path` speaks of: `query`, `key`, `value`, `out`, `score`; else nothing.

    A name that speaks of several things, `query_key_value`, says of none that it is that.
    """
    names = [part for part in path.split(".") if not part.isdigit() and part not in ("weight", "bias")]
    for name in reversed(names):
        found = {meaning for token in _TOKENS.findall(name) if (meaning := _meaning(token.lower()))}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _meaning(token: str) -> str:
    if token in _EXACT:
        return _EXACT[token]
    return next((meaning for part, meaning in _PARTS.items() if part in token), "")
