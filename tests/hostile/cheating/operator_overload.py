"""Call one overload through `torch.ops`.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten.scaled_dot_product_attention.default(q, k, v)
