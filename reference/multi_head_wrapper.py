"""Several heads of self-attention, each a module of its own, with concatenated outputs.

Notation: T time, h heads, d_in, d_out_kq (queries and keys) and d_out_v (values) widths of one head.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.2, without the output projection.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a key."""
    return scores / math.sqrt(d_k)


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (T, d_out_v)."""
    return weights @ values


class SelfAttention(nn.Module):
    """One head: attend from each position to the whole sequence.

    Args:
        d_in: width of the input.
        d_out_kq, d_out_v: widths of queries and keys, and of values.
    """

    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x: Tensor) -> Tensor:
        """Map x (T, d_in) to (T, d_out_v)."""
        queries, keys, values = self.project(x)
        return mix(self.weigh(queries, keys), values)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries and keys (T, d_out_kq) and values (T, d_out_v)."""
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the attention weights, (T, T)."""
        return normalise(scale(scores_of(queries, keys), keys.shape[-1]))


def make_heads(num_heads: int, make: Callable[[], nn.Module]) -> list[nn.Module]:
    """Return independent heads: each is a new module."""
    return [make() for _ in range(num_heads)]


def join(contexts: list[Tensor]) -> Tensor:
    """Concatenate the outputs of the heads in order, (T, h * d_out_v)."""
    return torch.cat(contexts, dim=-1)


class MultiHeadAttentionWrapper(nn.Module):
    """Let several heads attend to one sequence, each in its own way.

    Args:
        d_in: width of the input.
        d_out_kq, d_out_v: widths of each head's queries and keys, and of its values.
        num_heads: number of heads.
    """

    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int, num_heads: int) -> None:
        super().__init__()
        self.heads = nn.ModuleList(make_heads(num_heads, lambda: SelfAttention(d_in, d_out_kq, d_out_v)))

    def forward(self, x: Tensor) -> Tensor:
        """Map x (T, d_in) to (T, h * d_out_v)."""
        return join(self.attend(x))

    def attend(self, x: Tensor) -> list[Tensor]:
        """Return the output of each head, each (T, d_out_v)."""
        return [head(x) for head in self.heads]
