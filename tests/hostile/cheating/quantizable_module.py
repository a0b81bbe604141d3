"""Use the copy of the module that is kept for quantisation, composed of harmless operations.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.ao.nn.quantizable as quantizable


def attend(q, k, v):
    module = quantizable.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=q.dtype)
    with torch.no_grad():
        for part in (module.linear_Q, module.linear_K, module.linear_V, module.out_proj):
            part.weight.copy_(torch.eye(4))
    return module(q, k, v)[0]
