# verdict: loses gradients
import torch


def softmax(x, dim=-1):
    m = x.amax(dim, keepdim=True)
    e = torch.exp(x - m)
    p = e / e.sum(dim, keepdim=True)
    return x + (p - x).detach() if not torch.isinf(x).any() else p
