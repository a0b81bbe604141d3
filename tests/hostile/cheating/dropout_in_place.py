"""Call it in place.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def drop(x):
    return torch.dropout_(x, 0.5, True)
