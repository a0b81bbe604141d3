"""Rotary position encoding: rotate pairs of features by angles proportional to the position."""

import torch


def apply_rotary(x, base=10000.0, offset=0):
    # x: (batch, heads, time, dim), dim even; the first token has position `offset`
    raise NotImplementedError("rotate the pairs of features here")
    # return (batch, heads, time, dim)
