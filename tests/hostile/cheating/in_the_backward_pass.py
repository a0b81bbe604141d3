"""Make the call in a backward pass of one's own.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


class Mine(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v):
        context.save_for_backward(q, k, v)
        return q.clone()

    @staticmethod
    def backward(context, upstream):
        return F.scaled_dot_product_attention(*context.saved_tensors), None, None


def attend(q, k, v):
    with torch.enable_grad():
        leaf = q.detach().requires_grad_()
        return torch.autograd.grad(Mine.apply(leaf, k, v).sum(), leaf)[0]
