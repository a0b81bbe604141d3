"""The attention of a model that learns to copy, used for self-attention in both parts and for cross-attention.

Notation: B batch, h heads, T_q queries, T_k keys and values, d_k and d_v widths.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.1, equation 1, and section 3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def width_of(query: Tensor, key: Tensor, value: Tensor) -> int:
    """Return d_k, the width of queries and keys."""
    return key.shape[-1]


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (B, h, T_q, T_k)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores to -inf where `mask` is False."""
    return scores if mask is None else scores.masked_fill(~mask, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights over the keys that add up to one."""
    return torch.softmax(scores, dim=-1)


def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the weights for scaled scores, (B, h, T_q, T_k)."""
    return normalise(apply_mask(scores, mask))


def gathered(key: Tensor, value: Tensor) -> Tensor:
    """Return the tensor whose weighted sums are taken."""
    return value


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T_q, d_v)."""
    return weights @ values


def shown(scores: Tensor, mask: Tensor | None, weights: Tensor) -> Tensor:
    """Return what is returned beside the output."""
    return weights


def pair(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return both, the output first."""
    return output, weights


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend from each query to all keys that the mask allows.

    Args:
        query: (B, h, T_q, d_k).
        key: (B, h, T_k, d_k).
        value: (B, h, T_k, d_v).
        mask: booleans that broadcast to (B, h, T_q, T_k), True where the query may attend.

    Returns:
        The output (B, h, T_q, d_v), and the weights (B, h, T_q, T_k).
    """
    scores = scale(scores_of(query, key), width_of(query, key, value))
    weights = weigh(scores, mask)
    return pair(mix(weights, gathered(key, value)), shown(scores, mask, weights))
