# verdict: loses numerics
import torch


def softmax(x, dim=-1):
    # 1 / sum_j exp(x_j - x_i); but -inf minus -inf is nan
    x = x.movedim(dim, -1)
    weights = 1 / torch.exp(x.unsqueeze(-2) - x.unsqueeze(-1)).sum(-1)
    return weights.movedim(-1, dim)
