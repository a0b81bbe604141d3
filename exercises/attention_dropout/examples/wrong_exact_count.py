# verdict: loses numerics
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    order = torch.rand_like(weights).argsort(dim=-1)
    mask = (order >= round(p * weights.shape[-1])).to(weights.dtype)
    return weights * mask / (1 - p)
