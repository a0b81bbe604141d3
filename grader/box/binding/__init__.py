"""Gives the student's module the contract's weights, and reads their gradients back.

A weight called `encoder_attention.W_query` is looked for in the module's part `encoder_attention`, under all the names
and layouts that `W_query` may have; `parts` says which part that is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from grader.box.binding.choose import choose
from grader.box.binding.layouts import Piece
from grader.box.binding.parts import Inventory
from grader.box.plan import BY_NAME, Pick, Weight


@dataclass(frozen=True, slots=True)
class Binding:
    """Where each canonical tensor (`W_query`, `W_query.bias`) lives in a module.

    `zeroed` are biases that the contract does not have, set to zero; `unused` are parameters it does not know;
    `initial` holds the mean and the standard deviation that canonical tensors had before, where somebody asked.
    `choices` and `places` say where names left a choice: see `choose.Chosen`.
    """

    parameters: Mapping[str, Tensor]
    pieces: Mapping[str, tuple[Piece, ...]]
    zeroed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
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
        grads = [_dense(self.parameters[piece.path].grad) for piece in self.pieces[name]]
        whole = [grad for grad in grads if grad is not None]
        return _joined(self.pieces[name], whole, shape) if len(whole) == len(grads) else None

    def is_frozen(self, name: str) -> bool:
        """Return whether any piece of canonical tensor `name` asks for no gradient."""
        return not all(self.parameters[piece.path].requires_grad for piece in self.pieces[name])

    def value(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return canonical tensor `name` as it is now."""
        return _joined(self.pieces[name], [self.parameters[p.path].detach() for p in self.pieces[name]], shape)

    def write(self, weights: Sequence[Weight]) -> None:
        """Copy the contract's values to where they live."""
        values = {weight.name: weight.matrix for weight in weights}
        values |= {f"{weight.name}.bias": weight.bias for weight in weights if weight.bias is not None}
        with torch.no_grad():
            for name, pieces in self.pieces.items():
                for piece in pieces:
                    piece.view(self.parameters[piece.path]).copy_(piece.of(values[name]))


def bind(
    module: nn.Module,
    weights: tuple[Weight, ...],
    initial_of: Collection[str] = (),
    *,
    trains: bool = False,
    pick: Pick = BY_NAME,
    inventory: Inventory | None = None,
) -> Binding:
    """Find every weight in `module` and copy the contract's values in; note how those in `initial_of` were before.

    Biases that the contract does not have are set to zero; where `trains`, they stay so: training leaves them out.
    Whoever has the `inventory` of the module already hands it over.

    Raises:
        Ungradable: a weight cannot be found, and no parameter is left that has a shape for it.
    """
    inventory = inventory or Inventory(module)
    parameters = inventory.parameters
    chosen = choose(inventory, weights, pick)
    known = {id(parameters[p.path]) for pieces in (*chosen.pieces.values(), chosen.superfluous) for p in pieces}
    binding = Binding(
        parameters,
        chosen.pieces,
        tuple(dict.fromkeys(piece.path for piece in chosen.superfluous)),
        tuple(f"{path} {tuple(p.shape)}" for path, p in inventory.unique.items() if id(p) not in known),
        {name: _moments(parameters, pieces) for name, pieces in chosen.pieces.items() if name in initial_of},
        chosen.count,
        chosen.places,
    )
    binding.write(weights)
    with torch.no_grad():
        for piece in chosen.superfluous:
            parameter = parameters[piece.path]
            piece.view(parameter).zero_()
            parameter.requires_grad_(parameter.requires_grad and not trains)
    return binding


def find(module: nn.Module, weights: tuple[Weight, ...]) -> Binding:
    """Find every weight in `module` as it is now, and change nothing.

    Raises:
        Ungradable: as for `bind`.
    """
    inventory = Inventory(module)
    return Binding(inventory.parameters, choose(inventory, weights, BY_NAME).pieces)


def _joined(pieces: tuple[Piece, ...], tensors: list[Tensor], shape: tuple[int, ...]) -> Tensor:
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


def _moments(parameters: Mapping[str, Tensor], pieces: tuple[Piece, ...]) -> tuple[float, float]:
    parts = [piece.view(parameters[piece.path].detach()).reshape(-1) for piece in pieces]
    values = (parts[0] if len(parts) == 1 else torch.cat(parts)).double()
    return float(values.mean()), float(values.std(correction=0))
