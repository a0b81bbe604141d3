# verdict: loses numerics
# diagnosis: no_shift
import torch


def softmax(x, dim=-1):
    return torch.exp(x) / torch.exp(x).sum(dim=dim, keepdim=True)
