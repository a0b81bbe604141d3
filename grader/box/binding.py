"""Gives the student's module the contract's weights, and reads their gradients back.

A weight called `encoder_attention.W_query` is looked for in the module's part `encoder_attention`, under all the names
and layouts that `W_query` may have; `parts` says which part that is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from grader.box.choosing import Chosen, Part, Placement, choose
from grader.box.inventory import Inventory
from grader.box.layouts import Piece
from grader.box.listed import Listed
from grader.box.parts import by_part, placements
from grader.box.plan import BY_NAME, Pick, Weight


@dataclass(frozen=True, slots=True)
class Binding:
    """Where each canonical tensor (`W_query`, `W_query.bias`) lives in a module.

    `zeroed` are biases that the contract does not have, set to zero; `unused` are parameters it does not know;
    `initial` holds the mean and the standard deviation that canonical tensors had before, where somebody asked.
    `choices` and `places` say where names left a choice: see `choosing.Chosen`.
    """

    pieces: Mapping[str, tuple[Piece, ...]]
    zeroed: tuple[str, ...]
    unused: tuple[str, ...]
    initial: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    choices: int = 1
    places: str = ""

    def describe(self) -> dict[str, str]:
        """Return canonical name to place, in words."""
        return {
            name: ", ".join(dict.fromkeys(p.path + (f" ({p.note})" if p.note else "") for p in pieces))
            for name, pieces in self.pieces.items()
        }

    def gradient(self, name: str, shape: tuple[int, ...]) -> Tensor | None:
        """Return the gradient of canonical tensor `name`, None where any piece of it has none."""
        grads = [_dense(piece.parameter.grad) for piece in self.pieces[name]]
        whole = [grad for grad in grads if grad is not None]
        return _joined(self.pieces[name], whole, shape) if len(whole) == len(grads) else None

    def is_frozen(self, name: str) -> bool:
        """Return whether any piece of canonical tensor `name` asks for no gradient."""
        return not all(piece.parameter.requires_grad for piece in self.pieces[name])

    def value(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return canonical tensor `name` as it is now."""
        return _joined(self.pieces[name], [piece.parameter.detach() for piece in self.pieces[name]], shape)


def bind(
    module: nn.Module,
    weights: tuple[Weight, ...],
    initial_of: Collection[str] = (),
    *,
    trains: bool = False,
    pick: Pick = BY_NAME,
    inventory: Inventory | None = None,
    listed: Listed | None = None,
) -> Binding:
    """Find every weight in `module` and copy the contract's values in; note how those in `initial_of` were before.

    Biases that the contract does not have are set to zero; where `trains`, they stay so: training leaves them out.
    Whoever has the `inventory` of the module already hands it over, and what was `listed` for others like it.

    Raises:
        Ungradable: a weight cannot be found, and no parameter is left that has a shape for it.
    """
    inventory = inventory or Inventory(module)
    chosen = _find(inventory, weights, pick, {} if listed is None else listed)
    pieces, superfluous = chosen.pieces, chosen.superfluous
    initial = {name: _moments(found) for name, found in pieces.items() if name in initial_of}
    write(pieces, weights)
    _zero(superfluous, frozen=trains)
    known = {id(piece.parameter) for found in (*pieces.values(), superfluous) for piece in found}
    rest = ((path, parameter) for path, parameter in inventory.unique.items() if id(parameter) not in known)
    unused = tuple(f"{path} {tuple(parameter.shape)}" for path, parameter in rest)
    zeroed = tuple(dict.fromkeys(piece.path for piece in superfluous))
    return Binding(pieces, zeroed, unused, initial, chosen.count, chosen.places)


def find(module: nn.Module, weights: tuple[Weight, ...]) -> Binding:
    """Find every weight in `module` as it is now, and change nothing.

    Raises:
        Ungradable: as for `bind`.
    """
    return Binding(_find(Inventory(module), weights, BY_NAME, {}).pieces, (), ())


def _find(inventory: Inventory, weights: tuple[Weight, ...], pick: Pick, listed: Listed) -> Chosen:
    members = by_part(inventory, weights)
    found = placements(inventory, members)
    return choose(
        [
            Placement(
                tuple(
                    Part(places[scope], inventory.below(places[scope]), held, listed) for scope, held in members.items()
                ),
                {scope: path for scope, path in places.items() if path != scope} if len(found) > 1 else {},
            )
            for places in found
        ],
        pick,
    )


def _joined(pieces: tuple[Piece, ...], tensors: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    """Return one tensor for what lies in pieces."""
    whole = tensors[0].new_empty(shape)
    for piece, tensor in zip(pieces, tensors, strict=True):
        piece.of(whole).copy_(piece.view(tensor))
    return whole


def _dense(grad: Tensor | None) -> Tensor | None:
    """Return the gradient with all its zeros: `nn.Embedding(…, sparse=True)` keeps the rows that were used."""
    if grad is None or not grad.is_sparse:
        return grad
    rows = tuple(grad._indices())  # they may be anything by now: `to_dense` does not look at them, `index_put_` does
    return torch.zeros(grad.shape, dtype=grad.dtype).index_put_(rows, grad._values(), accumulate=True)


def _moments(pieces: tuple[Piece, ...]) -> tuple[float, float]:
    """Return mean and standard deviation of a canonical tensor as it is."""
    parts = [piece.view(piece.parameter.detach()).reshape(-1) for piece in pieces]
    values = (parts[0] if len(parts) == 1 else torch.cat(parts)).double()
    return float(values.mean()), float(values.std(correction=0))


def write(pieces: Mapping[str, tuple[Piece, ...]], weights: tuple[Weight, ...]) -> None:
    """Copy the contract's values to where they live."""
    values = {weight.name: weight.matrix for weight in weights}
    values |= {f"{weight.name}.bias": weight.bias for weight in weights if weight.bias is not None}
    with torch.no_grad():
        for name, found in pieces.items():
            for piece in found:
                piece.view(piece.parameter).copy_(piece.of(values[name]))


def _zero(pieces: tuple[Piece, ...], *, frozen: bool) -> None:
    with torch.no_grad():
        for piece in pieces:
            piece.view(piece.parameter).zero_()
            piece.parameter.requires_grad_(piece.parameter.requires_grad and not frozen)
