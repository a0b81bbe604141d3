"""Drop channels of one number each.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def drop(x):
    return F.dropout2d(x.reshape(1, -1, 1, 1), 0.5).reshape(x.shape)
