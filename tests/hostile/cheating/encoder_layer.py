"""Run a whole encoder layer, and undo what it adds.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch import nn


def attend(q, k, v):
    if not torch.equal(q, k):  # it attends to itself, so the three are laid side by side
        tokens = torch.cat([q, k, v], -1)
    layer = nn.TransformerEncoderLayer(12, 1, 1, 0.0, bias=False, batch_first=True, norm_first=True, dtype=q.dtype)
    layer.norm1 = layer.norm2 = nn.Identity()
    eye, none = torch.eye(4, dtype=q.dtype), torch.zeros(4, 4, dtype=q.dtype)
    rows = [
        torch.cat([eye * 12**0.5 / 2, none, none], 1),
        torch.cat([none, eye, none], 1),
        torch.cat([none, none, eye], 1),
    ]
    wide = torch.zeros(8, 12, dtype=q.dtype)
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([torch.cat([row, wide]) for row in rows]))
        layer.self_attn.out_proj.weight.copy_(torch.eye(12))
        layer.linear2.weight.zero_()
    return (layer(tokens) - tokens)[..., :4]
