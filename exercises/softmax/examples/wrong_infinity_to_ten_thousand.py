# verdict: loses numerics
import torch


def softmax(x, dim=-1):
    x = torch.nan_to_num(x, neginf=-1e4)
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
