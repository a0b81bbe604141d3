# verdict: loses numerics
# diagnosis: returns_logarithms
import torch


def softmax(x, dim=-1):
    z = x - x.amax(dim=dim, keepdim=True)
    return z - z.exp().sum(dim=dim, keepdim=True).log()
