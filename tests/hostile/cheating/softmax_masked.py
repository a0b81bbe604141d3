"""Hide nothing from the softmax with a mask.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.masked


def softmax(x):
    return torch.masked.softmax(x, -1)
