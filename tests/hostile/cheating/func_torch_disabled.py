"""Switch the layers of `torch.func` off around the call.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    with torch._C._DisableFuncTorch():
        return F.scaled_dot_product_attention(q, k, v)
