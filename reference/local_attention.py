"""Local attention: each position attends to those at most a window away, on both sides.

Notation: B batch, h heads, T time, d width, m queries of a block, n keys within its reach.
Source: Beltagy et al., Longformer (2020), section 3.1, sliding window attention.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

STRETCH = 32  # queries that are looked at together; the result does not depend on it


def stretches(time: int) -> list[slice]:
    """Return the queries in blocks; the last one may be shorter."""
    return [slice(start, min(start + STRETCH, time)) for start in range(0, time, STRETCH)]


def in_reach(rows: slice, window: int, time: int) -> slice:
    """Return the keys that at least one query of a block attends to; near the ends there are fewer."""
    return slice(max(rows.start - window, 0), min(rows.stop + window, time))


def near(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Return where a key is at most a window away, (m, n) booleans, from positions (m, 1) and (1, n)."""
    return (rows - columns).abs() <= window


def visible(rows: slice, columns: slice, window: int) -> Tensor:
    """Return which keys each query attends to, (m, n) booleans."""
    row = torch.arange(rows.start, rows.stop)[:, None]
    column = torch.arange(columns.start, columns.stop)[None, :]
    return near(row, column, window)


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key within reach, (B, h, m, n)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor) -> Tensor:
    """Set the scores to -inf where `mask` is False."""
    return scores.masked_fill(~mask.to(scores.device), float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights over the keys that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, m, d)."""
    return weights @ values


def attend(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Return the output for a block of queries, (B, h, m, d), from all tensors (B, h, T, d)."""
    columns = in_reach(rows, window, key.shape[-2])
    scores = scale(scores_of(query[..., rows, :], key[..., columns, :]), key.shape[-1])
    weights = normalise(apply_mask(scores, visible(rows, columns, window)))
    return mix(weights, value[..., columns, :])


def local_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attend from each position to those at most `window` away.

    Args:
        query, key, value: (B, h, T, d).
        window: positions on each side, at least 1.

    Returns:
        The output, (B, h, T, d).
    """
    outputs = [attend(query, key, value, rows, window) for rows in stretches(query.shape[-2])]
    return torch.cat(outputs, dim=-2)
