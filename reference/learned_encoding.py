"""Learned positional encoding: a table with a row for each position, added to the embeddings.

Notation: B batch, T time, d_model width.
Source: Gehring et al., Convolutional Sequence to Sequence Learning (2017), section 3.1, for positions that are learned;
Devlin et al., BERT (2019), and Radford et al., Improving Language Understanding by Generative Pre-Training (2018), for
their use in Transformers, with 512 positions and a standard deviation of 0.02.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

STD = 0.02


def begin(table: nn.Embedding) -> None:
    """Initialise the table at random, with mean 0 and standard deviation 0.02."""
    nn.init.normal_(table.weight, std=STD)


def positions(x: Tensor, max_len: int) -> Tensor:
    """Return the positions 0, …, T - 1 of the tokens of x (B, T, d_model), (T,)."""
    return torch.arange(x.shape[1], device=x.device)


def look_up(table: nn.Embedding, at: Tensor) -> Tensor:
    """Return the rows of the table for the positions `at` (T,), (T, d_model)."""
    return table(at)


def add(x: Tensor, encodings: Tensor) -> Tensor:
    """Add the encodings (T, d_model) to each sequence of x (B, T, d_model)."""
    return x + encodings


def drop(x: Tensor, dropout: nn.Dropout) -> Tensor:
    """Drop elements in training mode, and scale up those that are kept."""
    return dropout(x)


class LearnedPositionalEncoding(nn.Module):
    """Add to each token a learned vector for its position.

    Args:
        d_model: width of the embeddings.
        max_len: the longest sequence allowed, in tokens.
        dropout: probability of dropping an element of the sum in training.
    """

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.1) -> None:
        super().__init__()
        self.max_len = max_len
        self.position_embeddings = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        begin(self.position_embeddings)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, T, d_model) to the same shape."""
        return drop(add(x, look_up(self.position_embeddings, positions(x, self.max_len))), self.dropout)
