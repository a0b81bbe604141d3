"""A traced answer beside the reference on the same call: which of their numbers are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor

from grader.exercise.steps import Place
from grader.judge.arrangements import Arrangement, matches
from grader.judge.replay import Replay, Replayed, is_telling


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One tensor of the student's: a result with its line, or an argument with its name; `total` is its sum.

    `lines` are those that its numbers come from, and `caller` is the line that called its own; see `Traced`.
    """

    values: Tensor
    line: int = 0
    argument: str = ""
    lines: frozenset[int] = frozenset()
    caller: int = 0
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", float(self.values.sum()))


@dataclass(frozen=True, eq=False)  # no slots: what was found once is kept in the instance
class Scene:
    """What is compared.

    Attributes:
        replay: the reference on the call.
        order: the places of all results of its steps.
        places: those that are real tensors.
        echoes: those that give what an earlier one gave.
        reach: the places that change when one does.
        blind: the places of which that cannot be told; all that come later stand for it.
        nodes, outputs: the student's tensors, and what was returned.
        tolerance: relative to the largest magnitude of a tensor.
    """

    replay: Replay
    order: Sequence[Place]
    places: Mapping[Place, Tensor]
    echoes: Mapping[Place, Place | None]
    reach: Mapping[Place, frozenset[Place]]
    blind: frozenset[Place]
    nodes: Sequence[Node]
    outputs: Mapping[str, Tensor]
    tolerance: float

    @cached_property
    def told(self) -> dict[Place, Tensor]:
        """The places whose numbers are new, and different enough to be told from others."""
        return {p: values for p, values in self.places.items() if p not in self.echoes and is_telling(values)}

    @cached_property
    def unchanged(self) -> Replayed | None:
        """What the reference gives with nothing exchanged."""
        return self.replay.run()

    def after(self, values: Mapping[Place, Tensor]) -> Replayed | None:
        """Return what the reference gives with these values in the place of its own; each question is asked once."""
        name = frozenset((place, value.shape, value.numpy().tobytes()) for place, value in values.items())
        if name not in self._after:
            self._after[name] = self.replay.run(values)
        return self._after[name]

    @cached_property
    def _after(self) -> dict[Hashable, Replayed | None]:
        return {}

    @cached_property
    def roles(self) -> dict[int, frozenset[Place]]:
        """Which results of the reference's steps each of the student's tensors is, in whatever layout."""
        return {key: frozenset(fits) for key, fits in self._fits.items() if fits}

    @cached_property
    def rank(self) -> dict[int, int]:
        """When each of the student's tensors was there."""
        return {id(node): index for index, node in enumerate(self.nodes)}

    @cached_property
    def others(self) -> dict[int, list[Node]]:
        """The student's results that are none of the reference's, by the number of their elements."""
        found: dict[int, list[Node]] = defaultdict(list)
        for node in self.nodes:
            if node.line and id(node) not in self.roles:
                found[node.values.numel()].append(node)
        return found

    @cached_property
    def _fits(self) -> dict[int, dict[Place, Arrangement]]:
        """By tensor of the student's, the results that it is, each with the layout."""
        return {id(node): dict(self._fitting(node)) for node in self.nodes}

    def _fitting(self, node: Node) -> Iterator[tuple[Place, Arrangement]]:
        for place, truth in self.told.items():
            self.replay.effort.glance()
            if (fit := matches(node.values, truth, self.tolerance, total=node.total)) is not None:
                yield place, fit

    @cached_property
    def found(self) -> dict[Place, Node]:
        """Which results of steps the student has too, and the first tensor that is each of them.

        A tensor that has the form of one result is not taken for another that differs by axes merged or split.
        """
        plain: dict[Place, Node] = {}
        loose: dict[Place, Node] = {}
        for node in self.nodes:
            fits = self._fits[id(node)]
            formed = [place for place, fit in fits.items() if fit.plain]
            for place in formed:
                plain.setdefault(place, node)
            for place in fits if not formed else ():
                loose.setdefault(place, node)
        return {**loose, **plain}

    @cached_property
    def undefined(self) -> bool:
        """Whether the student's outputs have NaN, which comes out of many different tensors alike."""
        return any(bool(values.isnan().any()) for values in self.outputs.values())

    def right(self, place: Place) -> Node | None:
        """Return the tensor of the student's that is a result, or what it merely repeats, in a layout without doubt."""
        origin = place if place in self.found else self.echoes.get(place) or place
        node = self.found.get(origin)
        return node if node and matches(node.values, self.places[origin], self.tolerance, sure=True) else None

    @cached_property
    def settled(self) -> frozenset[Place]:
        """The places that are right in the student's code: found there, or needed for what is found."""
        found = self.found.keys()
        told = (place for place in self.order if place not in self.blind)
        return frozenset(place for place in told if place in found or self.reach[place] & found)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The steps, in the order of their first results."""
        return tuple(dict.fromkeys(place.step for place in self.places))
