# verdict: loses numerics
import torch


def softmax(x, dim=-1):
    dim = -1 if dim >= 0 else dim
    m = x.amax(dim, keepdim=True)
    e = torch.exp(x - m)
    return e / e.sum(dim, keepdim=True)
