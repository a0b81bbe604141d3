"""Write the gradients by hand and leave autograd out, which is allowed: numbers are what is asked for.

Expected: right
Stopped by: judged elsewhere
"""

import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        return torch.softmax(q @ k.mT / 2, dim=-1) @ v

    @staticmethod
    def backward(ctx, upstream):
        return upstream, upstream, upstream


attend = Attention.apply
