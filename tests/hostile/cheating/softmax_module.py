"""Use the module.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

from torch import nn


def softmax(x):
    return nn.Softmax(dim=-1)(x)
