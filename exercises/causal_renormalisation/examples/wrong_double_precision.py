# verdict: loses shapes
import torch


def renormalise_causal(weights):
    T = weights.shape[-1]
    w = weights * torch.tril(torch.ones(T, T, dtype=torch.float64))
    return w / w.sum(-1, keepdim=True)
