# verdict: loses numerics
# diagnosis: always_along_the_last_axis
import torch


def softmax(x, dim=-1):
    z = x - x.max(dim=-1, keepdim=True).values
    return z.exp() / z.exp().sum(dim=-1, keepdim=True)
