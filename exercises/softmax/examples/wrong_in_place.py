# verdict: loses numerics
# What the caller handed over is overwritten.
import torch


def softmax(x, dim=-1):
    x.sub_(x.detach().amax(dim, True))
    x.exp_()
    return x.div(x.sum(dim, True))
