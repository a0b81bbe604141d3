"""Enter the dispatcher below autograd.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    with torch._C._AutoDispatchBelowAutograd():
        return F.scaled_dot_product_attention(q, k, v)
