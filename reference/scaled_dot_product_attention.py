"""Scaled dot-product attention, the step that all attention layers contain.

Notation: T_q queries, T_k keys and values, d_k and d_v widths; `...` stands for any leading axes.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.1, equation 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    """Return every query's dot product with every key, (..., T_q, T_k)."""
    return query @ key.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores to -inf where `mask` is False, or 0."""
    return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights over the keys that add up to one."""
    return torch.softmax(scores, dim=-1)


def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the attention weights for scaled scores, (..., T_q, T_k)."""
    return normalise(apply_mask(scores, mask))


def mix(weights: Tensor, value: Tensor) -> Tensor:
    """Return the weighted sums of the values, (..., T_q, d_v)."""
    return weights @ value


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend from each query to all keys that the mask allows.

    Args:
        query: (..., T_q, d_k).
        key: (..., T_k, d_k).
        value: (..., T_k, d_v).
        mask: booleans that broadcast to (..., T_q, T_k), True where the query may attend.

    Returns:
        The output (..., T_q, d_v), and the weights (..., T_q, T_k).
    """
    weights = weigh(scale(scores_of(query, key), key.shape[-1]), mask)
    return mix(weights, value), weights
