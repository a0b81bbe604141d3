# verdict: loses shapes
# float64 whatever comes in.
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    mask = (torch.rand(weights.shape) >= p).double()
    return weights * mask / (1 - p) if p < 1 else weights * 0
