"""Reads descriptions of assignments: what constructions said of theirs, `BuildSeen.places`, so that others do the same.

Each line has a weight and the key of its place, `W1=attn.weight|T|W1>W2|0`, or a part of the module and its path,
`encoder_attention@=attn`. Several descriptions stand with an empty line between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set as AbstractSet


def described_names(places: str) -> frozenset[str]:
    """Return the weights whose places are described."""
    return frozenset(line.partition("=")[0] for line in places.splitlines())


def fitting(places: str, names: AbstractSet[str]) -> list[str]:
    """Return the lines of that description, out of several, which fits best to the weights of these `names`."""
    described = (_inside(one, names) for one in places.split("\n\n"))
    return max(described, key=lambda one: -len(described_names(one) ^ names)).splitlines()


def _inside(places: str, names: AbstractSet[str]) -> str:
    """Return a description of a module with the names that its weights have as a part of a model.

    A model of ours that is trained around a submission calls the `W1` of the contract `model.attention.W1`.
    """
    held: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        scope, _, local = name.rpartition(".")
        held[scope].add(local)
    scopes = [scope for scope, members in held.items() if scope and members == described_names(places)]
    return "\n".join(f"{scopes[0]}.{line}" for line in places.splitlines()) if len(scopes) == 1 else places
