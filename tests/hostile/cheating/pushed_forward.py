"""Take the value beside its derivative in forward mode.

Group: attention
Expected: error ImportError
Stopped by: nothing more can be imported, static look
Without traps: error ImportError
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    return torch.func.jvp(lambda one: F.scaled_dot_product_attention(one, k, v), (q,), (q,))[0]
