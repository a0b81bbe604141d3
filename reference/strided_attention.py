"""Strided attention: each position attends to the most recent ones, and to every stride-th one further back.

Notation: B batch, h heads, T time, d width.
Source: Child et al., Generating Long Sequences with Sparse Transformers (2019), section 4.3; here each head has both
patterns.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (B, h, T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def positions(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions of the queries (T, 1) and those of the keys (1, T), both counted from 0."""
    counted = torch.arange(scores.shape[-1], device=scores.device)
    return counted[:, None], counted[None, :]


def not_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Return where the key does not come after the query, (T, T) booleans."""
    return columns <= rows


def near(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Return where the key is less than one stride before the query, (T, T) booleans."""
    return rows - columns < stride


def on_stride(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Return where the distance from key to query is a multiple of the stride, (T, T) booleans."""
    return (rows - columns) % stride == 0


def either(first: Tensor, second: Tensor) -> Tensor:
    """Return where at least one of the two patterns is true, (T, T) booleans."""
    return first | second


def visible(scores: Tensor, stride: int) -> Tensor:
    """Return which keys each query attends to, (T, T) booleans."""
    rows, columns = positions(scores)
    pattern = either(near(rows, columns, stride), on_stride(rows, columns, stride))
    return not_ahead(rows, columns) & pattern


def apply_mask(scores: Tensor, mask: Tensor) -> Tensor:
    """Set the scores to -inf where `mask` is False."""
    return scores.masked_fill(~mask, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights over the keys that add up to one."""
    return torch.softmax(scores, dim=-1)


def weigh(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the attention weights for scaled scores, (B, h, T, T)."""
    return normalise(apply_mask(scores, mask))


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d)."""
    return weights @ values


def strided_attention(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """Attend from each position to the most recent ones and to those at a multiple of the stride.

    Args:
        query, key, value: (B, h, T, d).
        stride: positions per step, at least 1; also the number of recent positions, including the query's own.

    Returns:
        The output, (B, h, T, d).
    """
    scores = scale(scores_of(query, key), key.shape[-1])
    return mix(weigh(scores, visible(scores, stride)), value)
