"""Take the last of the running normalisers.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return (x - torch.logcumsumexp(x, -1)[..., -1:]).exp()
