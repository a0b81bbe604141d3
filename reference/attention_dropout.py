"""Inverted dropout on attention weights.

Notation: p the probability of dropping a weight; any shape.
Source: Srivastava et al., Dropout (2014), section 10; there p is the probability of keeping.
"""

from __future__ import annotations

import torch
from torch import Tensor


def is_on(training: bool) -> bool:
    """Return whether anything is dropped at all."""
    return training


def draw(weights: Tensor, p: float) -> Tensor:
    """Draw for each weight whether it is kept, with probability 1 - p: a boolean tensor of the same shape."""
    return torch.rand_like(weights) >= p


def silence(weights: Tensor, stays: Tensor) -> Tensor:
    """Return the weights with 0 wherever `stays` is False."""
    return weights * stays


def rescale(weights: Tensor, p: float) -> Tensor:
    """Divide by 1 - p, so that each weight keeps its mean; with p = 1 all weights are 0 and nothing is divided."""
    return weights if p == 1 else weights / (1 - p)


def attention_dropout(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """Drop each weight with probability p and scale up the others; in evaluation mode return all unchanged."""
    if not is_on(training):
        return weights
    return rescale(silence(weights, draw(weights, p)), p)
