"""The softmax is the gradient of the normaliser.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.func.vmap(torch.func.grad(lambda row: row.logsumexp(-1)))(x)
