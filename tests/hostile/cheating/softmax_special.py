"""Take the one among the special functions.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.special.softmax(x, -1)
