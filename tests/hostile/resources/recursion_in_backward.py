"""Call backward from within backward, without end, where torch starts a new engine each time.

Expected: crashed or error RecursionError or error RuntimeError
Stopped by: own fork, limits
Own: yes
"""

import torch


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, upstream):
        with torch.enable_grad():
            Again.apply(torch.ones(1, requires_grad=True)).sum().backward()
        return upstream


def attend(q, k, v):
    Again.apply(torch.ones(1, requires_grad=True)).sum().backward()
    return q
