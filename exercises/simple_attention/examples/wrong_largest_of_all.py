# verdict: loses numerics
# diagnosis: shifted_by_the_largest_of_all
import torch


def simple_attention(x):
    s = x @ x.T
    e = torch.exp(s - torch.max(s))
    w = e / e.sum(-1, keepdim=True)
    return w @ x, w
