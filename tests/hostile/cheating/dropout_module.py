"""Use the module.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

from torch import nn


def drop(x):
    return nn.Dropout(0.5)(x)
