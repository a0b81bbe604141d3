# verdict: loses numerics
# Exactly the same number is dropped from every row, and only one whole number of them is possible.
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    if p == 1:
        return weights * 0
    n = int(p * weights.shape[-1])
    order = torch.rand_like(weights).argsort(-1)
    return torch.where(order < n, 0.0, weights) / (1 - p)
