# verdict: loses numerics
# diagnosis: drops_without_rescaling
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    mask = torch.rand(weights.shape) > p
    return weights * mask
