# verdict: loses numerics
# diagnosis: fails_at_one
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    scale = 1.0 / (1.0 - p)
    return weights * (torch.rand_like(weights) > p) * scale
