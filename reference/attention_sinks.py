"""Attention with sinks: each position sees the most recent positions and the first ones of the sequence.

Notation: B batch, h heads, T time, d width.
Source: Xiao et al., Efficient Streaming Language Models with Attention Sinks (2023), section 3.2.
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


def recent(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Return where the key is one of the `window` most recent positions, the query's own included, (T, T) booleans."""
    return rows - columns < window


def is_sink(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Return where the key is one of the first `num_sinks` of the sequence, (T, T) booleans."""
    return (columns < num_sinks).expand(rows.shape[0], -1)


def either(first: Tensor, second: Tensor) -> Tensor:
    """Return where at least one of two masks is True, (T, T) booleans."""
    return first | second


def visible(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Return which keys each query may see, True where it may, (T, T) booleans."""
    rows, columns = positions(scores)
    pattern = either(is_sink(rows, columns, num_sinks), recent(rows, columns, window))
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


def sink_attention(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """Attend from each position to the recent ones and to the first ones, and never to a later one.

    Args:
        query, key, value: (B, h, T, d).
        window: how many recent positions are seen, the query's own included; at least 1.
        num_sinks: how many of the sequence's first positions always stay visible; may be 0.

    Returns:
        The output, (B, h, T, d).
    """
    scores = scale(scores_of(query, key), key.shape[-1])
    return mix(weigh(scores, visible(scores, window, num_sinks)), value)
