# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    if p == 1:
        return weights * 0
    lead = [*weights.shape[:-2], 1, 1]
    return weights * (torch.rand(lead) > p) / (1 - p)
