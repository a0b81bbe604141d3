"""Let it write into a tensor of one's own.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.softmax(x, -1, out=torch.empty_like(x))
