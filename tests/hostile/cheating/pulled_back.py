"""Take the value beside its derivative in reverse mode.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    return torch.func.vjp(lambda one: F.scaled_dot_product_attention(one, k, v), q)[0]
