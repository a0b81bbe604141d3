"""Causal multi-head self-attention: one projection split into heads, dropout on the weights.

Notation: B batch, T time, h heads, d_in and d_out widths, d_head = d_out / h.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.2 and 3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def width_of_head(d_out: int, num_heads: int) -> int:
    """Return the width of one head.

    Raises:
        ValueError: d_out is not divisible by the number of heads.
    """
    if d_out % num_heads != 0:
        raise ValueError(f"d_out ({d_out}) must be divisible by num_heads ({num_heads})")
    return d_out // num_heads


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, d_out) into (B, h, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) back into (B, T, d_out): concatenate the heads."""
    return heads.transpose(1, 2).flatten(2)


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, head by head, (B, h, T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a head."""
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
    """Drop attention weights in training mode, and scale up those that are kept."""
    return dropout(weights)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d_head)."""
    return weights @ values


class MultiHeadAttention(nn.Module):
    """Attend from each position to itself and to earlier positions, with several heads at once.

    Args:
        d_in, d_out: widths of the input and of the output; the heads share d_out.
        context_length: the longest sequence allowed.
        dropout: probability of dropping a weight in training.
        num_heads: number of heads.
        qkv_bias: whether the projections to queries, keys and values have biases; the output projection has one.

    Raises:
        ValueError: d_out is not divisible by num_heads.
    """

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.d_head = width_of_head(d_out, num_heads)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_out = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.context_length = context_length

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_in) to (B, T, d_out)."""
        queries, keys, values = (split(part, self.num_heads) for part in self.project(x))
        return self.leave(merge(self.gather(self.weigh(queries, keys), values)))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of all heads, each (B, T, d_out)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the attention weights of every head, (B, h, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(hide_future(scores))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Drop attention weights, and return the weighted sums of the values, (B, h, T, d_head)."""
        return mix(drop(weights, self.dropout), values)

    def leave(self, context: Tensor) -> Tensor:
        """Combine the heads with the output projection, (B, T, d_out)."""
        return self.W_out(context)
