"""Have the running normalisers written into a tensor.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    found = torch.empty_like(x)
    torch.logcumsumexp(x, -1, out=found)
    return (x - found[..., -1:]).exp()
