"""Take the value beside its derivative in forward mode.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    return torch.func.jvp(lambda one: F.scaled_dot_product_attention(one, k, v), (q,), (q,))[0]
