"""Call the ready-made dropout.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def drop(x):
    return F.dropout(x, 0.5)
