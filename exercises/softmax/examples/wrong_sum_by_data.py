# verdict: loses gradients
# diagnosis: detached_sum
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    total = e.data.sum(dim=dim, keepdim=True)
    return e / total
