"""Script a function of one's own that calls it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


@torch.jit.script
def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
