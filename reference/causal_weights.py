"""From raw scores to causal attention weights: scale, hide the future, softmax.

Notation: T time; `...` stands for any leading axes.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.1 and 3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of the keys."""
    return scores / math.sqrt(d_k)


def hide_future(scores: Tensor) -> Tensor:
    """Set the scores of later positions to -inf."""
    time = scores.shape[-1]
    future = torch.ones(time, time, dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def weigh(scores: Tensor) -> Tensor:
    """Return the causal weights for scaled scores, (..., T, T)."""
    return normalise(hide_future(scores))


def causal_attention_weights(scores: Tensor, d_k: int) -> Tensor:
    """Return the weight that each position gives to itself and to each earlier one.

    Args:
        scores: (..., T, T), the plain dot products of queries (rows) and keys (columns).
        d_k: the width of queries and keys.

    Returns:
        The weights, (..., T, T).
    """
    return weigh(scale(scores, d_k))
