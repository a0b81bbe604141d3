"""Fold the ready-made sum of two logarithms over the row.

Group: softmax
Expected: right
Stopped by: nothing, human eye
"""

import functools

import torch


def softmax(x):
    return (x - functools.reduce(torch.logaddexp, x.unbind(-1))[..., None]).exp()
