"""Sinusoidal positional encoding, added to the embeddings.

Notation: B batch, T time, d_model width. Pair i consists of dimensions 2i and 2i + 1.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.5.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def positions(length: int) -> Tensor:
    """Return the positions 0, 1, … of `length` tokens, (length, 1)."""
    return torch.arange(length, dtype=torch.get_default_dtype())[:, None]


def frequencies(d_model: int) -> Tensor:
    """Return the frequency of each pair, 10000^(-2i / d_model), (d_model / 2,)."""
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    return 10000.0 ** (-even / d_model)


def interleave(angles: Tensor) -> Tensor:
    """Return the sine of each angle in an even dimension and its cosine in the odd one after it."""
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)  # (length, pairs, 2) to (length, d_model)


def table(length: int, d_model: int) -> Tensor:
    """Return the encodings of `length` positions, (length, d_model)."""
    return interleave(positions(length) * frequencies(d_model))


def add(x: Tensor, encodings: Tensor) -> Tensor:
    """Add the encodings of the first T positions to x (B, T, d_model)."""
    return x + encodings[: x.shape[1]]


def drop(x: Tensor, dropout: nn.Dropout) -> Tensor:
    """Drop elements in training mode, and scale up those that are kept."""
    return dropout(x)


class SinusoidalPositionalEncoding(nn.Module):
    """Add sines and cosines of many frequencies to each token, according to its position.

    Args:
        d_model: width of the embeddings, even.
        max_len: the longest sequence allowed, in tokens.
        dropout: probability of dropping an element of the sum in training.
    """

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.keep(table(max_len, d_model))

    def keep(self, encodings: Tensor) -> None:
        """Store the table in the module, so that it moves with it to another device but is never trained."""
        self.register_buffer("encodings", encodings)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_model) to the same shape."""
        return drop(add(x, self.encodings), self.dropout)
