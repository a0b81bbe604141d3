"""Reduce a path to what it leads to.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import functools

import torch


def attend(q, k, v):
    path = ["nn", "functional", "_".join(("scaled", "dot", "product", "attention"))]
    return functools.reduce(getattr, path, torch)(q, k, v)
