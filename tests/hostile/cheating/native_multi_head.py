"""Call the fused multi-head kernel with identities for weights.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    eye = torch.eye(4, dtype=q.dtype)
    nothing = torch.zeros(12, dtype=q.dtype)
    return torch._native_multi_head_attention(q, k, v, 4, 1, torch.cat([eye] * 3), nothing, eye, nothing[:4])[0]
