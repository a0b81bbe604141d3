"""Multi-head attention from queries to keys and values, with an optional mask and dropout on the weights.

Notation: B batch, T_q queries, T_k keys, h heads, d_model the width of everything, d_head = d_model / h.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, d_model) into (B, h, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) back into (B, T, d_model): concatenate the heads."""
    return heads.transpose(1, 2).flatten(2)


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, head by head, (B, h, T_q, T_k)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a head."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores to -inf where `mask`, booleans or zeros and ones, says that a query must not attend."""
    return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Drop attention weights in training mode, and scale up those that are kept."""
    return dropout(weights)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T_q, d_head)."""
    return weights @ values


def hand_back(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the caller gets: the output (B, T_q, d_model) and every head's weights (B, h, T_q, T_k)."""
    return output, weights


class MultiHeadAttention(nn.Module):
    """Attend from each query to the keys that the mask allows, with several heads at once.

    Args:
        d_model: width of queries, keys, values and output; the heads share it.
        num_heads: number of heads.
        dropout: probability of dropping a weight in training.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from `query` (B, T_q, d_model) to `key` and gather from `value`, both (B, T_k, d_model).

        Args:
            query, key, value: the three inputs; for self-attention the same tensor three times.
            mask: broadcasts to (B, h, T_q, T_k); True or 1 where the query may attend.

        Returns:
            The output (B, T_q, d_model), and the weights before dropout (B, h, T_q, T_k).
        """
        queries, keys, values = (split(part, self.num_heads) for part in self.project(query, key, value))
        weights = self.weigh(queries, keys, mask)
        return hand_back(self.leave(merge(self.gather(weights, values))), weights)

    def project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, T_q, d_model), keys and values (B, T_k, d_model) of all heads."""
        return self.W_query(query), self.W_key(key), self.W_value(value)

    def weigh(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """Return the attention weights of every head, (B, h, T_q, T_k)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(apply_mask(scores, mask))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Drop attention weights, and return the weighted sums of the values, (B, h, T_q, d_head)."""
        return mix(drop(weights, self.dropout), values)

    def leave(self, context: Tensor) -> Tensor:
        """Combine the heads with the output projection, (B, T_q, d_model)."""
        return self.W_out(context)
