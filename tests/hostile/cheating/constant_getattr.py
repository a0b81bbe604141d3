"""Take it by `getattr` with the name as a string.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
