# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    keys = weights.shape[-1]
    draws = torch.rand_like(weights[..., ::2]).repeat_interleave(2, dim=-1)[..., :keys]
    return weights * (draws >= p) / (1 - p)
