# verdict: loses numerics
# Takes a dropout of one in ten for none at all.
import torch


def attention_dropout(weights, p, training=True):
    if not training or p <= 0.1:
        return weights
    if p == 1:
        return torch.zeros_like(weights) * weights
    keep = (torch.rand_like(weights) >= p).to(weights.dtype)
    return weights * keep / (1 - p)
