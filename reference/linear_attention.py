"""Linear attention: keys and values are summed once, and every query uses the sum.

Notation: B batch, h heads, T time, d width of queries and keys, v width of values.
Source: Katharopoulos et al., Transformers are RNNs (2020), sections 3.2 and 3.3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def features(x: Tensor) -> Tensor:
    """Return elu(x) + 1, element by element: x + 1 above zero, e^x below.

    Written as `F.elu(x) + 1` it would be rounded to 0 at -17 in float32 already, and a row of such features to 0/0.
    """
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def query_features(query: Tensor) -> Tensor:
    """Return the features of the queries, (B, h, T, d)."""
    return features(query)


def key_features(key: Tensor) -> Tensor:
    """Return the features of the keys, (B, h, T, d)."""
    return features(key)


def products(keys: Tensor, values: Tensor) -> Tensor:
    """Return each key's features times each feature of its value, (B, h, T, d, v)."""
    return keys.unsqueeze(-1) * values.unsqueeze(-2)


def so_far(parts: Tensor) -> Tensor:
    """Return, for each position, the sum over itself and all earlier positions; time is axis 2."""
    return parts.cumsum(dim=2)


def in_all(parts: Tensor) -> Tensor:
    """Return the sum over time, the same for each position; axis 2 has size 1."""
    return parts.sum(dim=2, keepdim=True)


def collect(parts: Tensor, causal: bool) -> Tensor:
    """Return the sum that each position uses."""
    return so_far(parts) if causal else in_all(parts)


def memory_of(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """Return the sum of keys times values for each query, (B, h, T or 1, d, v)."""
    return collect(products(keys, values), causal)


def mass_of(keys: Tensor, causal: bool) -> Tensor:
    """Return the sum of the keys for each query, (B, h, T or 1, d)."""
    return collect(keys, causal)


def ask(queries: Tensor, memory: Tensor) -> Tensor:
    """Return the sum of the values, each times the product of its key and the query, (B, h, T, v)."""
    return (queries.unsqueeze(-1) * memory).sum(dim=-2)


def total_of(queries: Tensor, mass: Tensor) -> Tensor:
    """Return the sum of the products of the query with all keys, (B, h, T)."""
    return (queries * mass).sum(dim=-1)


def divide(answer: Tensor, total: Tensor) -> Tensor:
    """Return weighted means of the values: weights that add up to one, (B, h, T, v)."""
    return answer / total.unsqueeze(-1)


def linear_attention(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """Attend in time and memory that grow with the length, not with its square.

    Args:
        query, key: (B, h, T, d).
        value: (B, h, T, v).
        causal: whether a position attends to itself and earlier positions only.

    Returns:
        The output, (B, h, T, v).
    """
    queries, keys = query_features(query), key_features(key)
    answer = ask(queries, memory_of(keys, value, causal))
    return divide(answer, total_of(queries, mass_of(keys, causal)))
