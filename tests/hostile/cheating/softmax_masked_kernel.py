"""The kernel of that.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch._masked_softmax(x, torch.zeros_like(x).bool(), -1)
