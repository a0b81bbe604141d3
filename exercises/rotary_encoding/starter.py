"""Rotary position encoding: positions become angles."""

import torch


def apply_rotary(x, base=10000.0, offset=0):
    # x: (batch, heads, time, dim), dim even; the first token stands at position `offset`
    raise NotImplementedError("turn the pairs of features here")
    # return (batch, heads, time, dim)
