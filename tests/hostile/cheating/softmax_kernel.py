"""Call the kernel.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.ops.aten._softmax(x, -1, False)
