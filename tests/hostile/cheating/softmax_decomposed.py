"""Ask the kernel for its decomposition.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.ops.aten.softmax.int.decompose(x, -1)
