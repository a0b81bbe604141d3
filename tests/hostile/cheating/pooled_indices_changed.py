"""Change the places that a pooling has returned: its backward pass writes there, wherever it is.

Group: attention
Expected: forbidden
Stopped by: traps
"""

import torch
from torch.nn import functional as F


def attend(q, k, v):
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    largest, places = F.max_pool2d(x, 2, return_indices=True)
    places.numpy().fill(3)  # autograd has the same memory
    largest.sum().backward()
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
