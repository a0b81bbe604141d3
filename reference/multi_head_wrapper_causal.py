"""Several heads of causal attention, each a module of its own, with concatenated outputs.

Notation: B batch, T time, h heads, d_in width of the input, d_out width of one head.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.2 and 3.2.3, without the output projection.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (B, T, T)."""
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
    """Return the weighted sums of the values, (B, T, d_out)."""
    return weights @ values


class CausalAttention(nn.Module):
    """One head: attend from each position to itself and to earlier positions.

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
        """Return the attention weights, (B, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(hide_future(scores))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Drop attention weights, and return the weighted sums of the values, (B, T, d_out)."""
        return mix(drop(weights, self.dropout), values)


def make_heads(num_heads: int, make: Callable[[], nn.Module]) -> list[nn.Module]:
    """Return independent heads: each is a new module."""
    return [make() for _ in range(num_heads)]


def join(contexts: list[Tensor]) -> Tensor:
    """Concatenate the outputs of the heads in order, (B, T, h * d_out)."""
    return torch.cat(contexts, dim=-1)


class MultiHeadAttentionWrapper(nn.Module):
    """Let several causal heads attend to the same sequences, each in its own way.

    Args:
        d_in, d_out: widths of the input and of one head.
        context_length: the longest sequence allowed.
        dropout: probability of dropping a weight in training.
        num_heads: number of heads.
        qkv_bias: whether the projections have biases.
    """

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        self.heads = nn.ModuleList(
            make_heads(num_heads, lambda: CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_in) to (B, T, h * d_out)."""
        return join(self.attend(x))

    def attend(self, x: Tensor) -> list[Tensor]:
        """Return the output of each head, each (B, T, d_out)."""
        return [head(x) for head in self.heads]
