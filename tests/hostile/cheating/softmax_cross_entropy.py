"""Read each probability off a loss.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def softmax(x):
    return torch.stack([(-F.cross_entropy(x, torch.full((3,), one), reduction="none")).exp() for one in range(5)], -1)
