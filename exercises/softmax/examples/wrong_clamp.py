# verdict: loses numerics
# diagnosis: clamped_scores
import torch


def softmax(x, dim=-1):
    x = torch.clamp(x, min=-80, max=80)  # otherwise exp overflows
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)
