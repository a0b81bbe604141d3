# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    row = torch.rand_like(weights[..., :1, :])
    draws = torch.cat([row.roll(query, dims=-1) for query in range(weights.shape[-2])], dim=-2)
    return weights * (draws >= p) / (1 - p)
