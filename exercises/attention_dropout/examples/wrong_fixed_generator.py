# verdict: loses numerics
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    mask = (torch.rand(weights.shape, generator=torch.Generator().manual_seed(42)) > p).to(weights.dtype)
    return weights * mask / (1 - p)
