"""Return one value that poses as a whole tensor, by strides of zero.

Expected: wrong
Stopped by: judged elsewhere
"""

import torch


def attend(q, k, v):
    return torch.zeros(1, dtype=torch.float64).expand(2, 3, 4)
