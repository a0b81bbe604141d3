"""Self-attention over one sequence, with bare parameters as projections.

Notation: T time, d_in and d_out widths.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (T, d_out)."""
    return weights @ values


class SelfAttention(nn.Module):
    """Attend from every position of a sequence to all positions.

    Args:
        d_in, d_out: widths of the input and of queries, keys and values.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: Tensor) -> Tensor:
        """Map x (T, d_in) to (T, d_out)."""
        queries, keys, values = self.project(x)
        return mix(self.weigh(queries, keys), values)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each (T, d_out)."""
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the attention weights, (T, T)."""
        return normalise(scale(scores_of(queries, keys), keys.shape[-1]))
