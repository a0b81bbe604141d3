"""Weight transfer from nn.Linear layers to nn.Parameter matrices.

Notation: d_in and d_out widths. nn.Linear stores (d_out, d_in), the parameters are (d_in, d_out).
Source: PyTorch documentation, torch.nn.Linear.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def names() -> tuple[str, ...]:
    """Return the names of the parameters to copy."""
    return "W_query", "W_key", "W_value"


def origin(name: str) -> str:
    """Return the layer of the source for the target's parameter `name`."""
    return name


def turned(weight: Tensor) -> Tensor:
    """Transpose the weight of a layer, (d_out, d_in) to (d_in, d_out)."""
    return weight.T


def copied(matrix: Tensor) -> Tensor:
    """Return a copy of the numbers, detached from the graph."""
    return matrix.detach().clone()


def put(target: nn.Module, name: str, matrix: Tensor) -> None:
    """Write a matrix into a parameter of the target."""
    with torch.no_grad():
        target.get_parameter(name).copy_(matrix)


def carry(source: nn.Module, target: nn.Module, name: str) -> None:
    """Copy the target's parameter `name` from its layer in the source."""
    weight = source.get_parameter(f"{origin(name)}.weight")
    put(target, name, copied(turned(weight)))


def transfer_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy the parameters of `source` to `target`; no memory is shared, and the target can be trained."""
    for name in names():
        carry(source, target, name)
