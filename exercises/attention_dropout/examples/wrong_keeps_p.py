# verdict: loses numerics
# diagnosis: keeps_what_it_should_drop
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    mask = (torch.rand_like(weights) < p).to(weights.dtype)
    out = weights * mask
    if p < 1:
        out = out / (1 - p)
    return out
