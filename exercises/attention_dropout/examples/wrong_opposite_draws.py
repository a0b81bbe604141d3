# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    keys = weights.shape[-1]
    half = torch.rand_like(weights[..., : (keys + 1) // 2])
    draws = torch.cat([half, 1 - half], dim=-1)[..., :keys]
    return weights * (draws >= p) / (1 - p)
