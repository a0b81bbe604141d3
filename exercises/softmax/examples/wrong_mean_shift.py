# verdict: loses numerics
# diagnosis: shift_by_the_mean
import torch


def softmax(x, dim=-1):
    centred = x - x.mean(dim, keepdim=True)
    e = centred.exp()
    return e / e.sum(dim, keepdim=True)
