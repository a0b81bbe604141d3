# verdict: loses shapes
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim))
    return e / e.sum(dim=dim)
