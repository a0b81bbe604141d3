"""Causal self-attention in which several heads of queries share one head of keys and values.

Notation: B batch, T time, h heads of queries, g heads of keys and values, d_model the width of the input,
d_head = d_model / h. Query head n reads the keys and values of head n // (h / g).
Source: Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints (2023),
section 2.2, arXiv:2305.13245; Shazeer, Fast Transformer Decoding: One Write-Head is All You Need (2019), for g = 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, heads * d_head) into (B, heads, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def share(heads: Tensor, num_heads: int) -> Tensor:
    """Turn (B, g, T, d_head) into (B, h, T, d_head): each head repeated h / g times."""
    return heads.repeat_interleave(num_heads // heads.shape[1], dim=1)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) into (B, T, d_model): the heads side by side."""
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


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d_head)."""
    return weights @ values


class GroupedQueryAttention(nn.Module):
    """Attend from each position to itself and to earlier positions; groups of heads share keys and values.

    Args:
        d_model: width of the input and of the output; the heads of the queries share it.
        num_heads: number of heads of the queries.
        num_kv_heads: number of heads of the keys and values; it divides `num_heads`.
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        shared = num_kv_heads * (d_model // num_heads)
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, shared, bias=False)
        self.W_value = nn.Linear(d_model, shared, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_model) to (B, T, d_model)."""
        queries, keys, values = self.cut(*self.project(x))
        keys, values = self.share_out(keys, values)
        return self.leave(merge(self.gather(self.weigh(queries, keys), values)))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, T, d_model), keys and values (B, T, g * d_head)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def cut(self, queries: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, h, T, d_head), keys and values (B, g, T, d_head)."""
        return split(queries, self.num_heads), split(keys, self.num_kv_heads), split(values, self.num_kv_heads)

    def share_out(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values for each head of the queries, (B, h, T, d_head)."""
        return share(keys, self.num_heads), share(values, self.num_heads)

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the weight that each position gives to itself and each earlier one, head by head, (B, h, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(hide_future(scores))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Return the weighted sums of the values, (B, h, T, d_head)."""
        return mix(weights, values)

    def leave(self, context: Tensor) -> Tensor:
        """Apply the output projection, which combines the heads, (B, T, d_model)."""
        return self.W_out(context)
