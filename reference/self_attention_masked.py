"""Self-attention over a batch of sequences, with linear layers, biases, and a mask.

Notation: B batch, T time, d_model the one width.
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


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores to -inf where `mask` is False or 0."""
    return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def weights_of(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the attention weights for scaled scores, (B, T, T)."""
    return normalise(apply_mask(scores, mask))


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, T, d_model)."""
    return weights @ values


def give(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return both results, in the order of the contract."""
    return output, weights


class SelfAttention(nn.Module):
    """Attend from every position of a sequence to those that a mask allows.

    Args:
        d_model: width of the input, of queries, keys and values, and of what comes out.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Map x (B, T, d_model) to the output (B, T, d_model) and the weights (B, T, T).

        Args:
            x: the sequences.
            mask: None, or (T, T), (1 or B, T, T) or (B, 1, T), booleans or zeros and ones; True or 1: may attend.
        """
        queries, keys, values = self.project(x)
        weights = self.weigh(queries, keys, mask)
        return give(self.gather(weights, values), weights)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each (B, T, d_model)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def weigh(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """Return the attention weights, (B, T, T)."""
        return weights_of(scale(scores_of(queries, keys), keys.shape[-1]), mask)

    def gather(self, weights: Tensor, values: Tensor) -> Tensor:
        """Return the weighted sums of the values, (B, T, d_model)."""
        return mix(weights, values)
