"""Call the builtin in the C module below `torch.nn.functional`.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch._C._nn.scaled_dot_product_attention(q, k, v)
