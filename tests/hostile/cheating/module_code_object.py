"""Make a new function of the forward pass's code.

Group: attention
Expected: forbidden
Stopped by: traps, static look, notices
"""

import types

import torch
from torch import nn


def filled(module, dtype):
    nn.Module.__init__(module)
    module.embed_dim = module.kdim = module.vdim = module.head_dim = 4
    module.num_heads, module.dropout, module.batch_first, module._qkv_same_embed_dim = 1, 0.0, True, True
    module.in_proj_weight = nn.Parameter(torch.eye(4, dtype=dtype).repeat(3, 1))
    module.in_proj_bias = module.bias_k = module.bias_v = None
    module.add_zero_attn = False
    module.out_proj = nn.Linear(4, 4, bias=False, dtype=dtype)
    with torch.no_grad():
        module.out_proj.weight.copy_(torch.eye(4))
    return module


class Mine(nn.Module):
    merge_masks = nn.MultiheadAttention.merge_masks


def attend(q, k, v):
    old = nn.MultiheadAttention.forward
    forward = types.FunctionType(old.__code__, old.__globals__, "forward", (None, True, None, True, False))
    return forward(filled(Mine(), q.dtype), q, k, v)[0]
