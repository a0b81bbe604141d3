"""Cross-attention: queries from one sequence, keys and values from another.

Notation: T_1 and T_2 lengths; d_in, d_out_kq, d_out_v widths.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.1 and 3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (T_1, T_2)."""
    return queries @ keys.T


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (T_1, d_out_v)."""
    return weights @ values


def attend(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sum of the values for each query, (T_1, d_out_v)."""
    return mix(normalise(scale(scores_of(queries, keys), keys.shape[-1])), values)


class CrossAttention(nn.Module):
    """Attend from each position of one sequence to all positions of another.

    Args:
        d_in: width of both sequences.
        d_out_kq: width of queries and keys.
        d_out_v: width of values and of the output.
    """

    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x_1: Tensor, x_2: Tensor) -> Tensor:
        """Map x_1 (T_1, d_in) and x_2 (T_2, d_in) to (T_1, d_out_v)."""
        return attend(*self.project(x_1, x_2))

    def project(self, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the queries (T_1, d_out_kq), the keys (T_2, d_out_kq) and the values (T_2, d_out_v)."""
        return x_1 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value
