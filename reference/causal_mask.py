"""The causal mask that is added to scores.

Notation: T tokens; row i is a query, column j a key.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def future(seq_len: int) -> Tensor:
    """Return True where column j lies in the future of row i, (T, T)."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool).triu(diagonal=1)


def fill() -> float:
    """Return the value that is added to a masked score."""
    return float("-inf")


def paint(hidden: Tensor, value: float) -> Tensor:
    """Return `value` where `hidden` is True, and 0 elsewhere, (T, T)."""
    return torch.zeros(hidden.shape).masked_fill(hidden, value)


def create_causal_mask(seq_len: int) -> Tensor:
    """Return 0 where a position may attend, -inf where it may not, (T, T)."""
    return paint(future(seq_len), fill())
