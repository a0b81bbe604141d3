"""Enumerates the ways to give each weight of a part a place of its own, and says how likely each is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import and_

from grader.box.spots import Option

Assignment = Mapping[str, Option]  # by the weight's name in its part

_STEPS = 20_000  # of the search, for all weights of one part together


class _Level:
    """The options of one weight, the usual ones first, and which of them fit to an option of another weight.

    Sets of options are numbers, a bit for each: an answer may have hundreds of thousands of pairs to be looked at.
    """

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = sorted(options, key=lambda option: option.rarity)
        self._by_paths: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self._by_place: defaultdict[Hashable, int] = defaultdict(int)
        self._by_part: defaultdict[Hashable, int] = defaultdict(int)
        for number, option in enumerate(self.options):
            self._by_paths[option.paths] += 1 << number
            if option.parts > 1:
                self._by_place[_place(option)] += 1 << number
                self._by_part[_place(option), option.part] += 1 << number
        self._sets = [(set(paths), fitting) for paths, fitting in self._by_paths.items()]

    @property
    def all(self) -> int:
        """Return the set of all options."""
        return (1 << len(self.options)) - 1

    def fitting(self, other: Option) -> int:
        """Return the options that may lie beside `other`: at other paths, or as another part of the same place."""
        place = _place(other)
        found = self._by_place[place] & ~self._by_part[place, other.part]
        for paths, fitting in self._sets:
            if paths.isdisjoint(other.paths):
                found |= fitting
        return found


def _place(option: Option) -> Hashable:
    return option.family, option.layout, option.paths


def assignments(options: Mapping[str, list[Option]]) -> Iterator[Assignment]:
    """Yield every way to give each weight a place of its own, and to leave no part of a fused place empty."""
    names = sorted(options, key=lambda name: len(options[name]))
    levels = [_Level(options[name]) for name in names]
    fitting = cache(lambda option, depth: levels[depth].fitting(option))
    budget = [_STEPS]

    def extend(chosen: tuple[Option, ...]) -> Iterator[Assignment]:
        budget[0] -= 1
        depth = len(chosen)
        if depth == len(names):
            if _is_full(chosen):
                found = dict(zip(names, chosen, strict=True))
                yield {name: found[name] for name in options}
            return
        free = reduce(and_, (fitting(option, depth) for option in chosen), levels[depth].all)
        while free and budget[0] > 0:
            lowest = free & -free
            free ^= lowest
            yield from extend((*chosen, levels[depth].options[lowest.bit_length() - 1]))

    return extend(())


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
