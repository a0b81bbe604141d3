"""Take the exponential of the logarithm.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def softmax(x):
    return F.log_softmax(x, dim=-1).exp()
