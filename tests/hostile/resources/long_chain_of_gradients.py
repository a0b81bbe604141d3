"""Build a graph of twenty thousand operations; freeing it used to recurse.

Expected: right
Stopped by: limits
"""

import torch


def attend(q, k, v):
    x = torch.ones(1, requires_grad=True)
    for _ in range(20_000):
        x = x + 1
    x.backward()
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
