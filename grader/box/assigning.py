"""Enumerates the ways to give each weight of a part a place of its own, and says how likely each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from grader.box.spots import Option

Assignment = Mapping[str, Option]  # by the weight's name in its part

_STEPS = 20_000  # of the search, for all weights of one part together


def assignments(options: Mapping[str, list[Option]]) -> Iterator[Assignment]:
    """Yield every way to give each weight a place of its own, and to leave no part of a fused place empty."""
    names = sorted(options, key=lambda name: len(options[name]))
    budget = [_STEPS]

    def extend(chosen: dict[str, Option]) -> Iterator[Assignment]:
        budget[0] -= 1
        if len(chosen) == len(names):
            if _is_full(chosen.values()):
                yield {name: chosen[name] for name in options}
            return
        name = names[len(chosen)]
        for option in sorted(options[name], key=lambda option: option.rarity):
            if budget[0] > 0 and not any(_clash(option, other) for other in chosen.values()):
                yield from extend({**chosen, name: option})

    return extend({})


def _clash(one: Option, other: Option) -> bool:
    """Return whether two weights cannot lie so at once."""
    if set(one.paths).isdisjoint(other.paths):
        return False
    shared = one.parts > 1 and (one.family, one.layout, one.paths) == (other.family, other.layout, other.paths)
    return not shared or one.part == other.part


def _is_full(chosen: Iterable[Option]) -> bool:
    """Return whether every fused place that is used is used whole."""
    used = Counter((option.paths, option.parts) for option in chosen if option.parts > 1)
    return all(count == parts for (_, parts), count in used.items())


def cost(assignment: Assignment, ranks: Mapping[str, int]) -> float:
    """Return what speaks against an assignment: doubts, mixed layouts, and another order than the contract's."""
    chosen = list(assignment.values())
    places = [(ranks[option.paths[0]], option.part) for option in chosen]
    turned = sum(one > other for i, one in enumerate(places) for other in places[i + 1 :])
    layouts_used = len({option.layout for option in chosen})
    return sum(option.rarity for option in chosen) + 0.6 * layouts_used + 0.05 * turned
