# verdict: loses gradients
import torch


def softmax(x, dim=-1):
    shifted = x - x.amax(dim=dim, keepdim=True)
    shifted = torch.clamp(shifted, min=-30.0)  # exp(-30) is nothing anyway
    e = shifted.exp()
    return e / e.sum(dim=dim, keepdim=True)
