"""Derive from the multi-head module, and inherit its forward pass.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch import nn


class Mine(nn.MultiheadAttention):
    pass


def attend(q, k, v):
    module = Mine(4, 1, bias=False, batch_first=True, dtype=q.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(4))
    return module(q, k, v)[0]
