"""Drop whole features of one number each.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def drop(x):
    return torch.feature_dropout(x.reshape(-1, 1), 0.5, True).reshape(x.shape)
