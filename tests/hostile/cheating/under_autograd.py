"""Let the inputs require gradients, so that another kernel answers.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def attend(q, k, v):
    return F.scaled_dot_product_attention(q.requires_grad_(), k, v).detach()
