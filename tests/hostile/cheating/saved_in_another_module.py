"""Use a reference that another module of torch has kept.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.modules.activation as activation


def attend(q, k, v):
    return activation.F.scaled_dot_product_attention(q, k, v)
