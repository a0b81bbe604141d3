# verdict: loses numerics
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    mask = (torch.rand_like(weights) > p).to(weights.dtype)
    return weights * (1 + torch.randn_like(weights) * (p / (1 - p)) ** 0.5)
