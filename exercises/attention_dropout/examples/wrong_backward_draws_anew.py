# verdict: loses gradients
# Draws once for the way there and once more for the way back.
import torch


class D(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, p):
        ctx.p = p
        m = torch.rand_like(w) >= p
        return w * m if p == 1 else w * m / (1 - p)

    @staticmethod
    def backward(ctx, g):
        m = torch.rand_like(g) >= ctx.p
        return g * m if ctx.p == 1 else g * m / (1 - ctx.p), None


def attention_dropout(weights, p, training=True):
    return D.apply(weights, p) if training else weights
