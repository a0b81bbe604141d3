"""Weight transfer from nn.Linear layers to nn.Parameter matrices.

Notation: d_in and d_out widths. nn.Linear keeps (d_out, d_in), the parameters are (d_in, d_out).
Source: PyTorch documentation, torch.nn.Linear.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def names() -> tuple[str, ...]:
    """Return the names of the weights to carry over."""
    return "W_query", "W_key", "W_value"


def origin(name: str) -> str:
    """Return which of the source's layers the target's weight `name` comes from."""
    return name


def turned(weight: Tensor) -> Tensor:
    """Turn the weight of a layer (d_out, d_in) into a matrix (d_in, d_out)."""
    return weight.T


def copied(matrix: Tensor) -> Tensor:
    """Return the same numbers in memory of their own, without a history."""
    return matrix.detach().clone()


def put(target: nn.Module, name: str, matrix: Tensor) -> None:
    """Write a matrix into a parameter of the target."""
    with torch.no_grad():
        target.get_parameter(name).copy_(matrix)


def carry(source: nn.Module, target: nn.Module, name: str) -> None:
    """Give the target's weight `name` the numbers of its layer in the source."""
    weight = source.get_parameter(f"{origin(name)}.weight")
    put(target, name, copied(turned(weight)))


def transfer_weights(source: nn.Module, target: nn.Module) -> None:
    """Give `target` the weights of `source`; nothing is shared, and the target can be trained as before."""
    for name in names():
        carry(source, target, name)
