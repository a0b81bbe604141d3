"""The padding mask: which tokens of a batch may be attended to.

Notation: B batch, T tokens. True means: may be attended to.
Source: common practice; Vaswani et al., Attention Is All You Need (2017), section 3.2.3, mask later positions only.
"""

from __future__ import annotations

from torch import Tensor


def visible(seq: Tensor, pad_idx: int) -> Tensor:
    """Return True where there is a word, (B, T)."""
    return seq != pad_idx


def spread(mask: Tensor) -> Tensor:
    """Insert axes for heads and queries: (B, T) becomes (B, 1, 1, T)."""
    return mask[:, None, None, :]


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """Return which tokens of seq (B, T) may be attended to, (B, 1, 1, T), bool."""
    return spread(visible(seq, pad_idx))
