"""Rotary position encoding: each pair of features is rotated by an angle that grows with the position.

Notation: B batch, h heads, T time, d width (even).
Source: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding (2021), sections 3.2.2 and 3.4.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def precision(x: Tensor) -> torch.dtype:
    """Return the dtype of the angles: that of x, but at least float32, since bfloat16 cannot tell 256 from 257."""
    return torch.promote_types(x.dtype, torch.float32)


def positions(x: Tensor, offset: int) -> Tensor:
    """Return the position of each token, offset + t, (T, 1)."""
    return torch.arange(x.shape[-2], dtype=precision(x), device=x.device)[:, None] + offset


def exponents(x: Tensor) -> Tensor:
    """Return -2i/d for each pair i = 0 … d/2 - 1, (d/2,)."""
    width = x.shape[-1]
    return -torch.arange(0, width, 2, dtype=precision(x), device=x.device) / width


def frequencies(exponents: Tensor, base: float) -> Tensor:
    """Return the angle between successive positions for each pair, in radians, (d/2,)."""
    return torch.as_tensor(base, dtype=exponents.dtype, device=exponents.device) ** exponents


def angles(positions: Tensor, frequencies: Tensor) -> Tensor:
    """Return the angle of each pair at each position, in radians, (T, d/2)."""
    return positions * frequencies


def split(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and the second features of all pairs, (B, h, T, d/2) each."""
    return x[..., 0::2], x[..., 1::2]


def turn(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    """Rotate each point (first, second) by its angle, anticlockwise."""
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine - second * sine, first * sine + second * cosine


def merge(first: Tensor, second: Tensor) -> Tensor:
    """Put the pairs back in their places: undo `split`, (B, h, T, d)."""
    return torch.stack((first, second), dim=-1).flatten(-2)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate every pair of features of x (B, h, T, d) by its angle, (T, d/2); the result has the dtype of x."""
    return merge(*turn(*split(x), angles)).to(x.dtype)


def apply_rotary(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Rotate the pairs of features (2i, 2i + 1) of the token at position p by the angle p · base^(-2i/d).

    Args:
        x: queries or keys, (B, h, T, d), d even.
        base: how much slower the last pair turns than the first, nearly.
        offset: position of the first token.

    Returns:
        As x, (B, h, T, d).
    """
    return rotate(x, angles(positions(x, offset), frequencies(exponents(x), base)))
