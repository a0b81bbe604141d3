"""Freeze a traced module, so that the interpreter optimises it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


class Module(torch.nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def attend(q, k, v):
    return torch.jit.freeze(torch.jit.trace(Module().eval(), (q, k, v)))(q, k, v)
