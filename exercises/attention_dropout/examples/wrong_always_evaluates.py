# verdict: loses numerics
# diagnosis: evaluates_by_default
import torch


def attention_dropout(weights, p, training=False):
    if not training:
        return weights
    if p == 1.0:
        return torch.zeros_like(weights)
    return torch.where(torch.rand_like(weights) < p, 0.0, weights / (1 - p))
