"""Causal multi-head self-attention as in a decoder: all projections have biases, and the weights are returned too.

Notation: B batch, T time, h heads, d_model the width of input and output, d_head = d_model / h.
Source: Vaswani et al., Attention Is All You Need (2017), sections 3.2.2 and 3.2.3; Radford et al., Language Models are
Unsupervised Multitask Learners (2019), for the layer as part of a language model.
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
    """Turn (B, h, T, d_head) back into (B, T, d_model): the heads side by side."""
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
    """Drop weights in training mode, and scale up those that are kept."""
    return dropout(weights)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d_head)."""
    return weights @ values


def hand_back(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the output (B, T, d_model) and every head's weights (B, h, T, T)."""
    return output, weights


class CausalSelfAttention(nn.Module):
    """Attend from each position to itself and to earlier positions, with several heads at once.

    Args:
        d_model: width of the input and of the output; the heads share it.
        num_heads: number of heads.
        max_len: the longest sequence allowed.
        dropout: probability of dropping a weight in training.
    """

    def __init__(self, d_model: int, num_heads: int, max_len: int = 512, dropout: float = 0.1) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.max_len = max_len
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map x (B, T, d_model) to the output (B, T, d_model) and the weights before dropout (B, h, T, T)."""
        queries, keys, values = (split(part, self.num_heads) for part in self.project(x))
        weights = self.weigh(queries, keys)
        return hand_back(self.leave(merge(self.gather(weights, values))), weights)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of all heads, each (B, T, d_model)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the weight that each position gives to itself and each earlier one, head by head, (B, h, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(hide_future(scores))

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Apply dropout to the weights and return the weighted sums of the values, (B, h, T, d_head)."""
        return mix(drop(weights, self.dropout), values)

    def leave(self, context: Tensor) -> Tensor:
        """Apply the output projection, which combines the heads, (B, T, d_model)."""
        return self.W_out(context)
