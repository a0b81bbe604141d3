"""Attention without parameters: every token of a sequence is compared directly with all tokens.

Notation: T time, d width.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.1, equation 1, with Q = K = V = x and no scaling.
"""

from __future__ import annotations

import torch
from torch import Tensor


def roles(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values: here the tokens (T, d) themselves, three times."""
    return x, x, x


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every token's dot product with every token, (T, T)."""
    return queries @ keys.transpose(-2, -1)


def normalise(scores: Tensor) -> Tensor:
    """Turn each token's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the tokens, (T, d)."""
    return weights @ values


def give(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return both results, in the order of the contract."""
    return context, weights


def simple_attention(x: Tensor) -> tuple[Tensor, Tensor]:
    """Attend from every token to all tokens, most to similar ones.

    Args:
        x: (T, d).

    Returns:
        The context (T, d), and the weights (T, T).
    """
    queries, keys, values = roles(x)
    weights = normalise(scores_of(queries, keys))
    return give(mix(weights, values), weights)
