"""Make the call in a hook on a tensor's gradient.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    found = []
    with torch.enable_grad():
        leaf = torch.ones(1, requires_grad=True)
        leaf.register_hook(lambda upstream: found.append(F.scaled_dot_product_attention(q, k, v)))
        leaf.sum().backward()
    return found[0]
