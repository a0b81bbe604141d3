# verdict: loses numerics
# diagnosis: never_drops
import torch


def attention_dropout(weights, p, training=True):
    if training:
        mask = torch.rand_like(weights) < p
        weights.masked_fill(mask, 0)
        weights.div(1 - p)
    return weights
