"""Take the normaliser from the operations on masked tensors.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.masked


def softmax(x):
    return (x - torch.masked.logsumexp(x, -1, keepdim=True)).exp()
