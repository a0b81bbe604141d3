"""Write a few bytes in front of the answer, to shift everything that follows.

Expected: protocol
Stopped by: protocol
"""

import os

import torch

os.write(4, b"\0\0\0")


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
