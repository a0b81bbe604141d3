"""Call the ready-made softmax.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def softmax(x):
    return F.softmax(x, dim=-1)
