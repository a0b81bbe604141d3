"""Single-head causal self-attention with dropout on the weights.

Notation: B batch, T time, d_in and d_out widths.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.1 and 3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (B, T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def hide_future(scores: Tensor) -> Tensor:
    """Set the scores of later positions to -inf."""
    time = scores.shape[-1]
    future = torch.ones(time, time, dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Drop weights in training mode, and scale up those that are kept."""
    return dropout(weights)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, T, d_out)."""
    return weights @ values


class CausalAttention(nn.Module):
    """Attend from each position to itself and to earlier positions.

    Args:
        d_in, d_out: widths of the input and of queries, keys and values.
        context_length: the longest sequence allowed.
        dropout: probability of dropping a weight in training.
        qkv_bias: whether the three projections have biases.
    """

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.context_length = context_length

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_in) to (B, T, d_out)."""
        queries, keys, values = self.project(x)
        return self.gather(self.weigh(queries, keys), values)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each (B, T, d_out)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the weight that each position gives to itself and each earlier one, (B, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(hide_future(scores))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Apply dropout to the weights and return the weighted sums of the values, (B, T, d_out)."""
        return mix(drop(weights, self.dropout), values)
