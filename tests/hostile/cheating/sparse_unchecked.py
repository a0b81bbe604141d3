"""Make a sparse tensor whose indices nobody checks, and add it to a dense one.

Group: attention
Expected: forbidden
Stopped by: traps
"""

import torch


def attend(q, k, v):
    change = torch.sparse_coo_tensor([[3]], [1.0], (8,), check_invariants=False)
    torch.zeros(8).add_(change)
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
