"""Hand over jagged nested tensors, which answer in Python.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: error ModuleNotFoundError
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    heads = [
        torch.nested.nested_tensor([row[:, None] for row in one], layout=torch.jagged).transpose(1, 2)
        for one in (q, k, v)
    ]
    return torch.stack([row[0] for row in F.scaled_dot_product_attention(*heads).unbind()])
