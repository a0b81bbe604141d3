"""Use the multi-head module with identities for weights; its fused path.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch import nn


def attention_of_torch(q, k, v, **options):
    module = nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=q.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(4))
    return module(q, k, v, **options)[0]


def attend(q, k, v):
    return attention_of_torch(q, k, v, need_weights=False)
