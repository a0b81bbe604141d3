"""The weights that a model of ours begins its training with."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from grader.box.plan import Holding, Weight
from grader.exercise.drawing import normal


def initial_weights(model: nn.Module, draw: torch.Generator, prefix: str = "") -> tuple[Weight, ...]:
    """Return fresh values for every parameter of `model`, in float64, under `prefix` and its own name.

    Embeddings are standard normal, other matrices have the variance 1 / (3 inputs) of PyTorch's own linear layers,
    biases are 0 and what a norm multiplies with is 1.
    """
    return tuple(
        Weight(f"{prefix}{name}.{leaf}".replace("..", "."), _value(part, value, draw), holding=Holding.EXACT)
        for name, part in model.named_modules()
        for leaf, value in part.named_parameters(recurse=False)
    )


def _value(part: nn.Module, value: Tensor, draw: torch.Generator) -> Tensor:
    shape = tuple(value.shape)
    if isinstance(part, nn.Embedding):
        return normal(shape, draw)
    if len(shape) > 1:
        return normal(shape, draw) / math.sqrt(3 * shape[-1])
    gain = isinstance(part, nn.LayerNorm) and value is part.weight
    return torch.full(shape, float(gain), dtype=torch.float64)
