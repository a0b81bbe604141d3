"""Lists the places of weights once for modules that are alike.

The search for a place by its behaviour builds one module a hundred times, and asks for another assignment each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from torch import Tensor

from grader.box.assigning import Assignment
from grader.box.inventory import Inventory
from grader.box.layouts import Piece
from grader.box.plan import Weight

Listed = dict[Hashable, list[Assignment | None]]  # the assignments by what `likeness` says, in the words of one module


def likeness(inventory: Inventory, members: Mapping[str, Weight]) -> Hashable:
    """Return all that places depend on: what a module holds, under which names and in which shapes, and the weights."""
    first = {id(parameter): path for path, parameter in inventory.unique.items()}
    return (
        tuple((path, type(part)) for path, part in inventory.parts.items()),
        tuple(
            (path, first[id(p)], tuple(p.shape), p.stride(), p.storage_offset())
            for path, p in inventory.parameters.items()
        ),
        tuple(
            (name, one.name, tuple(one.matrix.shape), one.bias is None, one.heads, one.holding, one.either)
            for name, one in members.items()
        ),
    )


def in_module(pieces: tuple[Piece, ...], parameters: Mapping[str, Tensor]) -> tuple[Piece, ...]:
    """Return pieces that were listed for a module like the one with these parameters, as pieces of the latter."""
    return tuple(
        piece if piece.parameter is parameters[piece.path] else replace(piece, parameter=parameters[piece.path])
        for piece in pieces
    )
