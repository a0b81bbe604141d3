# verdict: loses numerics
# diagnosis: rounded_weights
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return torch.round(e / e.sum(dim=dim, keepdim=True), decimals=4)
