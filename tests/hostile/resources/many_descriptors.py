"""Duplicate a descriptor until there are none left, and answer as if nothing were.

Expected: right
Stopped by: system call filter, limits
"""

import os

import torch

try:
    while True:
        os.dup(0)
except OSError:
    pass


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
