"""Softmax along one axis, for scores of any size.

Subtracting a number from all scores of a row changes nothing in the quotient, and with the row's largest score
subtracted no exponential exceeds one.
Source: Goodfellow, Bengio, Courville, Deep Learning (2016), section 4.1, equation 4.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def shift(x: Tensor, dim: int) -> Tensor:
    """Subtract the largest score along `dim`, so that the largest is zero."""
    return x - x.amax(dim=dim, keepdim=True)


def exponentiate(x: Tensor) -> Tensor:
    """Return e to the power of each score; -inf gives exactly zero."""
    return torch.exp(x)


def normalise(x: Tensor, dim: int) -> Tensor:
    """Divide by the sum along `dim`."""
    return x / x.sum(dim=dim, keepdim=True)


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return weights along `dim` that are positive and add up to one, in the shape and dtype of `x`.

    Args:
        x: scores, of any shape; -inf gets no weight. A row of nothing but -inf gives NaN.
        dim: the axis along which the weights add up to one.
    """
    return normalise(exponentiate(shift(x, dim)), dim)
