# verdict: loses numerics
# diagnosis: one_sum_for_everything
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum()
