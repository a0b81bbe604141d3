"""Return a tensor of the right shape that has no values at all.

Expected: wrong
Stopped by: protocol
"""

import torch


def attend(q, k, v):
    return torch.empty(2, 3, 4, dtype=torch.float64, device="meta")
