"""Causal multi-head attention with a cache of keys and values.

Notation: B batch, T new tokens, P tokens before them, h heads, d_head = d_model / h.
Source: Shazeer, Fast Transformer Decoding: One Write-Head is All You Need (2019), section 2.4, arXiv:1911.02150.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, d_model) into (B, h, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) back into (B, T, d_model): the heads side by side."""
    return heads.transpose(1, 2).flatten(2)


def join(before: Tensor, new: Tensor) -> Tensor:
    """Concatenate what was cached and what is new along time, (B, h, P + T, d_head)."""
    return torch.cat([before, new], dim=-2)


def recall(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """Return the keys and values of all tokens so far, each (B, h, P + T, d_head)."""
    if cache is None:
        return keys, values
    return join(cache[0], keys), join(cache[1], values)


def remember(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Return the cache for the next call; `keys` and `values` are those of all tokens so far."""
    return keys, values


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every new query's dot product with every key, head by head, (B, h, T, P + T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a head."""
    return scores / math.sqrt(d_k)


def behind(scores: Tensor) -> int:
    """Return P, the number of tokens before the first new one."""
    return scores.shape[-1] - scores.shape[-2]


def hide_future(scores: Tensor) -> Tensor:
    """Set the scores of later positions to -inf; new token i is token P + i of the sequence."""
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=behind(scores) + 1)
    return scores.masked_fill(future, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d_head)."""
    return weights @ values


class CachedCausalAttention(nn.Module):
    """Attend from each new token to itself and to all tokens before it.

    Args:
        d_model: width of the input and of the output; the heads share it.
        num_heads: number of heads.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Map new tokens x (B, T, d_model) to their outputs (B, T, d_model), and return the cache with them."""
        queries, keys, values = (split(part, self.num_heads) for part in self.project(x))
        keys, values = recall(keys, values, cache)
        output = self.leave(merge(mix(self.weigh(queries, keys), values)))
        return output, remember(keys, values, cache)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of all heads, each (B, T, d_model)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the weight that each new token gives to each token up to itself, head by head, (B, h, T, P + T)."""
        return normalise(hide_future(scale(scores_of(queries, keys), keys.shape[-1])))

    def leave(self, context: Tensor) -> Tensor:
        """Apply the output projection, which combines the heads, (B, T, d_model)."""
        return self.W_out(context)
