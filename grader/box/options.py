"""Lists the places where a weight of the contract may lie, by shape alone: which parameter, and in which layout.

The names of `weights` come first. This is for modules whose names do not say which weight is which, and for layouts
that a shape does not tell: a fused projection may have its axes (parts, heads, features) in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from torch import nn

from grader.box import layouts
from grader.box.blocks import Blocks, grouped
from grader.box.inventory import Inventory
from grader.box.layouts import Piece, View
from grader.box.plan import Holding, Weight
from grader.box.sharing import Sharer
from grader.box.spots import Option, Parameter, head_of, whole


class Lister:
    """Lists options for the weights of one part of a module."""

    def __init__(self, inventory: Inventory, weights: Sequence[Weight]) -> None:
        self._heads = max((weight.heads for weight in weights), default=1)
        owners = {name: _owner(part) for name, part in inventory.distinct.items()}
        self._parameters = [
            Parameter(path, parameter, owners.get(path.rpartition(".")[0], "") if path.endswith("weight") else "plain")
            for path, parameter in inventory.unique.items()
            if not path.endswith(".bias")
        ]
        projections = [weight for weight in weights if weight.holding is Holding.PROJECTION]
        matrices = [p for p in self._parameters if p.owner != "table"]
        self._shared = Sharer(matrices, projections, self._heads)
        self._blocks = Blocks(matrices, projections, self._shared)

    def of(self, weight: Weight, within: Collection[str] = ()) -> list[Option]:
        """Return every place where `weight` may lie, in the order of construction.

        With `within` it has been found by its name, in the parameters of these paths: those alone are looked at, and
        where they hold several weights, the contract's order of them alone.
        """
        allowed = [p for p in self._parameters if not within or p.path in within]
        if weight.holding is Holding.TABLE:
            return [option for p in allowed for option in _table(weight, p)]
        if weight.holding is Holding.EXACT:
            return []
        own = [option for p in allowed if p.owner != "table" for option in self._own(weight, p)]
        by_heads = self._by_heads(weight, allowed)
        return [*own, *by_heads, *self._shared.of(weight, within), *self._blocks.of(weight, within)]

    def _own(self, weight: Weight, p: Parameter) -> Iterator[Option]:
        """Yield the layouts of a parameter that holds `weight` alone."""
        size_in, size_out = weight.matrix.shape
        for shape, layout, view, rarity in (*_matrices(weight, p), *_headed(weight, p, self._heads)):
            pieces = (Piece(p.path, p.tensor, layouts.squeezed(view, shape), 0, size_out, _NOTES.get(layout, "")),)
            yield Option(pieces, (p.path,), layout, rarity, size_out, whole(size_out))
        heads = weight.heads
        if heads > 1 and size_out % heads == 0 and p.owner == "plain":
            width = size_out // heads
            for wanted, layout in (((heads, size_in, width), "hid"), ((heads, width, size_in), "hdi")):
                if wanted in p.shapes(3):
                    turn = layout == "hdi"
                    views = [layouts.squeezed(head_of(i, turn=turn), wanted) for i in range(heads)]
                    found = tuple(
                        Piece(p.path, p.tensor, view, i * width, (i + 1) * width, f"head {i}")
                        for i, view in enumerate(views)
                    )
                    yield Option(found, (p.path,), layout, 0.1 * turn, size_out, whole(size_out))

    def _by_heads(self, weight: Weight, allowed: Sequence[Parameter]) -> Iterator[Option]:
        """Yield the lists that hold one parameter for each head: blocks of columns, or of rows for what joins heads."""
        size_in, size_out = weight.matrix.shape
        joins = weight.heads == 1
        if self._heads < 2 or (size_in if joins else size_out) % self._heads:
            return
        width = (size_in if joins else size_out) // self._heads
        block = replace(weight, matrix=weight.matrix[:width] if joins else weight.matrix[:, :width], heads=1)
        for members in grouped(allowed):
            choices = [{o.layout: o for o in self._own(block, p)} for p in members]
            if len(members) == self._heads:
                common = (layout for layout in choices[0] if all(layout in choice for choice in choices))
                lay = _in_rows if joins else _in_blocks
                yield from (lay([choice[layout] for choice in choices], width) for layout in common)


_NOTES = {"T": "", "N": "", "flip": "the other way round", "ohd": "transposed", "ihd": "heads on a separate axis"}


def _owner(module: nn.Module) -> str:
    if isinstance(module, nn.Linear):
        return "linear"
    if isinstance(module, nn.Embedding):
        return "table"
    return "conv" if isinstance(module, nn.Conv1d | nn.Conv2d) else "plain"


def _matrices(weight: Weight, p: Parameter) -> Iterator[tuple[tuple[int, ...], str, View, float]]:
    """Yield shape, layout, view and rarity of each way in which a parameter is the matrix."""
    size_in, size_out = weight.matrix.shape
    layered = p.owner in ("linear", "conv")
    for shape in p.shapes(2):
        if shape == (size_out, size_in):
            yield shape, "T", layouts.transposed, 0.0 if layered or size_in != size_out else 0.4
        if shape == (size_in, size_out) and not layered:
            yield shape, "N", layouts.as_is, 0.0
        if shape == (size_in, size_out) and layered and weight.either:
            yield shape, "flip", layouts.as_is, 0.2
    if size_out == 1:
        for shape in p.shapes(1):
            if shape == (size_in,):
                yield shape, "column", layouts.column, 0.1


def _headed(weight: Weight, p: Parameter, heads: int) -> Iterator[tuple[tuple[int, ...], str, View, float]]:
    """Yield the layouts with heads on a separate axis that are one view of the matrix."""
    size_in, size_out = weight.matrix.shape
    if p.owner != "plain" or heads < 2:
        return
    for shape in p.shapes(3):
        if weight.heads > 1 and size_out % weight.heads == 0:
            width = size_out // weight.heads
            if shape == (size_in, weight.heads, width):
                yield shape, "ihd", layouts.heads_inside, 0.1
            if shape == (weight.heads, width, size_in):
                continue  # told by the blocks of its heads
        if weight.heads == 1 and size_in % heads == 0:
            width = size_in // heads
            if shape == (heads, width, size_out):
                yield shape, "hdo", lambda t: t.flatten(0, 1), 0.0
            if shape == (size_out, heads, width):
                yield shape, "ohd", lambda t: t.flatten(1).T, 0.1


def _table(weight: Weight, p: Parameter) -> Iterator[Option]:
    shape = tuple(weight.matrix.shape)
    if shape in p.shapes(2) and p.owner in ("table", "plain"):
        piece = Piece(p.path, p.tensor, layouts.squeezed(layouts.as_is, shape), 0, shape[-1])
        yield Option((piece,), (p.path,), "table", 0.2 * (p.owner != "table"), 0, whole(0))


def _in_blocks(options: Sequence[Option], width: int) -> Option:
    """Return one option for blocks that lie side by side, one for each head."""
    pieces = [
        replace(piece, start=piece.start + i * width, stop=piece.stop + i * width)
        for i, option in enumerate(options)
        for piece in option.pieces
    ]
    paths = tuple(path for option in options for path in option.paths)
    return replace(options[0], pieces=tuple(pieces), paths=paths, vector=whole(width * len(options)))


def _in_rows(options: Sequence[Option], width: int) -> Option:
    """Return one option for blocks that lie one below the other: a layer for each head, whose results are added up.

    So are their biases; the first one holds the whole, and the others are superfluous.
    """
    pieces = [
        replace(piece, above=i * width, below=(i + 1) * width, note=f"head {i}")
        for i, option in enumerate(options)
        for piece in option.pieces
    ]
    paths = tuple(path for option in options for path in option.paths)
    return replace(options[0], pieces=tuple(pieces), paths=paths, layout=f"rows {options[0].layout}", added=True)
