"""Return a tensor with as many values, in another shape.

Expected: wrong
Stopped by: protocol
"""

import torch


def attend(q, k, v):
    return torch.zeros(4, 3, 2, dtype=torch.float64)
