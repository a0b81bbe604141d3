"""Hand over nested tensors, which have kernels of their own.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    heads = [torch.nested.nested_tensor([row[None] for row in one]) for one in (q, k, v)]
    return torch.stack([row[0] for row in F.scaled_dot_product_attention(*heads).unbind()])
