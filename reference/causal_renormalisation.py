"""Causal weights from attention weights: future ones are set to 0, and each row is divided by its sum.

Notation: T time; any leading axes.
Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.3, for the mask.
"""

from __future__ import annotations

import torch
from torch import Tensor


def visible(weights: Tensor) -> Tensor:
    """Return a mask (T, T), True where a position may attend: to itself and to earlier positions."""
    time = weights.shape[-1]
    return torch.ones(time, time, dtype=torch.bool, device=weights.device).tril()


def hide(weights: Tensor, allowed: Tensor) -> Tensor:
    """Return the weights with 0 where `allowed` is False."""
    return weights.masked_fill(~allowed, 0.0)


def totals(weights: Tensor) -> Tensor:
    """Return the sum of each row, (…, T, 1)."""
    return weights.sum(dim=-1, keepdim=True)


def share_out(weights: Tensor, sums: Tensor) -> Tensor:
    """Divide each row by its sum, so that it adds up to one again."""
    return weights / sums


def renormalise_causal(weights: Tensor) -> Tensor:
    """Turn weights (…, T, T) into causal ones; the rows of both add up to one."""
    left = hide(weights, visible(weights))
    return share_out(left, totals(left))
