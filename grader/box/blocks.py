"""Lists the places where each head, or each group of heads, has several weights in a place of its own.

That is a layer for each head which gives the head's query, key and value, or a stack of such matrices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from torch import Tensor

from grader.box import layouts
from grader.box.layouts import Piece
from grader.box.plan import Weight
from grader.box.sharing import Sharer
from grader.box.spots import BY_HEADS, Option, Parameter, Vector

_LAYOUTS = ("phd", "stack", "dph")  # those of one head that differ from each other


class Blocks:
    """Lists places of several weights, one for each head, for the projections of one part of a module."""

    def __init__(self, parameters: Sequence[Parameter], projections: Sequence[Weight], sharer: Sharer) -> None:
        self._parameters, self._sharer = parameters, sharer
        self._one_head = Sharer((), projections, 1)

    def of(self, weight: Weight, within: Collection[str] = ()) -> Iterator[Option]:
        """Yield the places that hold `weight` together with others, head by head; `within` is what `Lister` has."""
        allowed = [p for p in self._parameters if not within or p.path in within]
        for members in self._sharer.orders(weight, turned=not within):
            count = self._sharer.groups(members)
            if count < 2 or len(members) > 3 or any(member.matrix.shape[1] % count for member in members):
                continue
            blocks = [_block(member, count) for member in members]
            own = blocks[next(i for i, member in enumerate(members) if member is weight)]
            for group in grouped(allowed):
                if len(group) == count:
                    yield from self._listed(own, blocks, group)
            for p in allowed:
                if p.owner == "plain" and p.tensor.dim() > 2 and p.tensor.shape[0] == count:
                    yield from self._stacked(own, blocks, p)

    def _listed(self, own: Weight, blocks: Sequence[Weight], group: Sequence[Parameter]) -> Iterator[Option]:
        """Yield the layouts of a list of parameters, one for each head; what shows the first shows the others."""
        if any(p.tensor.shape != group[0].tensor.shape or p.owner != group[0].owner for p in group):
            return
        for option in self._of_one(own, blocks, group[0]):
            pieces = [replace(option.pieces[0], path=p.path, parameter=p.tensor) for p in group]
            yield _joined(option, pieces, tuple(p.path for p in group))

    def _stacked(self, own: Weight, blocks: Sequence[Weight], p: Parameter) -> Iterator[Option]:
        """Yield the layouts of a parameter whose first axis is that of the heads."""
        first = Parameter(p.path, p.tensor.detach()[0], p.owner)
        for option in self._of_one(own, blocks, first):
            view = option.pieces[0].view
            pieces = [
                replace(option.pieces[0], parameter=p.tensor, view=layouts.within(i, view))
                for i in range(len(p.tensor))
            ]
            yield _joined(option, pieces, (p.path,))

    def _of_one(self, own: Weight, blocks: Sequence[Weight], p: Parameter) -> Iterator[Option]:
        """Yield the layouts of what one head has."""
        return (o for o in self._one_head.fused(own, blocks, p) if o.layout.startswith(_LAYOUTS))


def grouped(parameters: Sequence[Parameter]) -> list[list[Parameter]]:
    """Return the parameters in groups, whose paths differ in the number of a head alone."""
    groups: dict[str, list[Parameter]] = {}
    for p in parameters:
        groups.setdefault(layouts.pattern(p.path), []).append(p)
    return list(groups.values())


def _block(weight: Weight, count: int) -> Weight:
    """Return the part of a weight that belongs to one head."""
    bias = None if weight.bias is None else weight.bias[: weight.matrix.shape[1] // count]
    return replace(weight, matrix=weight.matrix[:, : weight.matrix.shape[1] // count], bias=bias, heads=1)


def _joined(option: Option, pieces: Sequence[Piece], paths: tuple[str, ...]) -> Option:
    """Return one option for all heads from that of the first one, which has one piece, and the piece of each head."""
    return replace(
        option,
        pieces=tuple(_moved(piece, number) for number, piece in enumerate(pieces)),
        paths=paths,
        layout=f"{BY_HEADS}{option.layout}",
        total=option.total * len(pieces),
        vector=_vector(option, len(pieces)),
    )


def _moved(piece: Piece, number: int) -> Piece:
    """Return the piece of head `number` for one of the first head, which has all columns up to `stop`."""
    return replace(piece, start=number * piece.stop, stop=(number + 1) * piece.stop)


def _vector(option: Option, heads: int) -> Vector:
    """Return how a bias lies: one for each head, or one whose first entries are those of the first head."""

    def vector(found: Sequence[tuple[str, Tensor]]) -> tuple[Piece, ...]:
        if len(found) == heads:
            own = [piece for one in found for piece in option.vector([one])]
        else:
            (piece,), size = option.vector(found[:1]), found[0][1].numel() // heads
            own = [replace(piece, view=_cut(number * size, size, piece)) for number in range(heads)]
        return tuple(_moved(piece, number) for number, piece in enumerate(own))

    return vector


def _cut(start: int, size: int, piece: Piece) -> layouts.View:
    return lambda parameter: piece.view(parameter.reshape(-1)[start : start + size])
