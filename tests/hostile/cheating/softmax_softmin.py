"""Turn the sign.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def softmax(x):
    return F.softmin(-x, dim=-1)
