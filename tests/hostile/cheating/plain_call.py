"""Call the operation by its usual name.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
