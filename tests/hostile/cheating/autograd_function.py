"""Hide the call in an autograd function of one's own.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


class Mine(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def attend(q, k, v):
    return Mine.apply(q, k, v)
