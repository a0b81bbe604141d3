"""Call the kernel that minds empty rows.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.ops.aten._safe_softmax(x, -1)
