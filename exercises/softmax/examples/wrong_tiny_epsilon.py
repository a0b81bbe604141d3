# verdict: loses gradients
import torch


def softmax(x, dim=-1):
    x_max, _ = torch.max(x, dim=dim, keepdim=True)
    exp_x = torch.exp(x - x_max)
    # small constant for numerical stability
    return exp_x / (torch.sum(exp_x, dim=dim, keepdim=True) + 1e-10)
