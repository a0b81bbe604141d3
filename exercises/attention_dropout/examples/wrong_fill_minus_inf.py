# verdict: loses numerics
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    mask = (torch.rand_like(weights) > p).to(weights.dtype)
    return torch.softmax(weights.masked_fill(mask == 0, float("-inf")), dim=-1)
