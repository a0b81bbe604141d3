"""Lists what of an answer may stand in the place of a step's results: one tensor, or one for each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, permutations

import torch
from torch import Tensor

from grader.exercise.steps import Place
from grader.judge.arrangements import Arrangement, arrangements, matches, same
from grader.judge.scene import Node, Scene

_MOST_ALONE = 40  # candidates for one result of a step
_MOST_TOGETHER = 40  # candidates for all results of a step together


@dataclass(frozen=True, slots=True, eq=False)
class Swap:
    """Results of one step, and the student's tensors that may stand in their places."""

    step: str
    nodes: Mapping[Place, Node]
    values: Mapping[Place, Tensor]

    @property
    def key(self) -> frozenset[int]:
        """Which tensors of the student's they are."""
        return frozenset(id(node) for node in self.nodes.values())


def swaps_of(scene: Scene, step: str) -> Iterator[Swap]:
    """Yield what may stand in the places of a step's results, in one of them or in all."""
    places = [place for place in scene.places if place.step == step]
    fits = {place: list(_fitting(scene, place)) for place in places}
    alone = (
        Swap(step, {place: node}, {place: arranged.values})
        for place in places
        for node, arranged in islice(fits[place], _MOST_ALONE)
    )
    missing = [place for place in places if place not in scene.found]
    groups = [group for group in dict.fromkeys((tuple(places), tuple(missing))) if len(group) > 1]
    together = (one for group in groups for one in islice(_together(scene, step, group, fits), _MOST_TOGETHER))
    yield from chain(together, alone) if missing == places else chain(alone, together)  # all wrong: none is so alone


def _fitting(scene: Scene, place: Place) -> Iterator[tuple[Node, Arrangement]]:
    """Yield the student's tensors that may stand in the place of a result and have other numbers.

    What is right in its own place is taken as it is, and nothing that follows from the result. Where the student has
    the result itself, what is used in its place must have the same form.
    """
    truth, loose = scene.places[place], []
    if place in scene.settled and (place not in scene.found or scene.undefined):
        return
    for node in scene.nodes:
        own = scene.roles.get(id(node), frozenset())
        if own & scene.reach[place]:
            continue
        is_used = place in scene.found and not own and node.line
        if is_used and scene.rank[id(node)] < scene.rank[id(scene.found[place])]:
            continue  # it was there before the right result, so that cannot have been changed into it
        formed_alike = place in scene.found or own or not node.line
        if scene.replay.spent:
            return
        for arranged in arrangements(node.values, truth.shape):
            scene.replay.effort.compare()
            if (formed_alike and not arranged.still) or same(arranged.values, truth, scene.tolerance):
                continue
            if arranged.plain:
                yield node, arranged
            else:
                loose.append((node, arranged))
    yield from loose


Fits = Mapping[Place, list[tuple[Node, Arrangement]]]


def _together(scene: Scene, step: str, group: tuple[Place, ...], fits: Fits) -> Iterator[Swap]:
    """Yield what may stand in several places at once: for each head, or for queries, keys and values."""
    for nodes in (*_rearranged(scene, group), *_alike(scene, group, fits), *_in_a_row(group, fits)):
        chosen = dict(zip(group, nodes, strict=True))
        yield Swap(step, {p: node for p, (node, _) in chosen.items()}, {p: values for p, (_, values) in chosen.items()})


Chosen = tuple[tuple[Node, Tensor], ...]


def _rearranged(scene: Scene, group: tuple[Place, ...]) -> Iterator[Chosen]:
    """Yield the right results in the places of each other."""
    if len(group) > 3 or len({scene.places[place].shape for place in group}) > 1:
        return
    own = [_first_match(scene, place) for place in group]
    for order in list(permutations(range(len(group))))[1:]:
        taken = [(own[index], scene.places[group[index]]) for index in order]
        if all(node is not None for node, _ in taken):
            yield tuple((node, values) for node, values in taken if node is not None)


def _first_match(scene: Scene, place: Place) -> Node | None:
    truth = scene.places[place]
    return next((n for n in scene.nodes if matches(n.values, truth, scene.tolerance, total=n.total)), None)


def _alike(scene: Scene, group: tuple[Place, ...], fits: Fits) -> Iterator[Chosen]:
    """Yield for each place the first tensor that has the same numbers in other places."""
    chosen = []
    for place in group:
        values = scene.places[place].flatten().sort().values
        same_numbers = (
            (node, a.values)
            for node, a in fits[place]
            if same(a.values.flatten().sort().values, values, scene.tolerance)
        )
        if (first := next(same_numbers, None)) is None:
            return
        chosen.append(first)
    yield tuple(chosen)


def _in_a_row(group: tuple[Place, ...], fits: Fits) -> Iterator[Chosen]:
    """Yield tensors of one shape that follow each other: on one line, so many apart, or one after the other."""
    count = len(group)
    if len({tuple(fits[place][0][1].values.shape) for place in group if fits[place]}) != 1:
        return
    firsts = {place: {id(node): (node, a.values) for node, a in reversed(fits[place])} for place in group}
    by_line: dict[tuple[int, torch.Size], list[Node]] = defaultdict(list)
    by_shape: dict[torch.Size, list[Node]] = defaultdict(list)
    for node in dict.fromkeys(node for place in group for node, _ in fits[place]):
        by_line[node.line, node.values.shape].append(node)
        by_shape[node.values.shape].append(node)
    rows = [
        nodes[start :: len(nodes) // count]
        for nodes in by_line.values()
        if len(nodes) % count == 0
        for start in range(len(nodes) // count)
    ]
    rows += [nodes[start : start + count] for nodes in by_shape.values() for start in range(len(nodes) - count + 1)]
    for row in rows:
        if all(id(node) in firsts[place] for place, node in zip(group, row, strict=True)):
            yield tuple(firsts[place][id(node)] for place, node in zip(group, row, strict=True))
