"""Call the kernel.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def drop(x):
    return torch.native_dropout(x, 0.5, True)[0]
