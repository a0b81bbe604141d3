# verdict: loses numerics
# diagnosis: drops_whole_columns
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    keep = torch.rand_like(weights[..., :1, :]) >= p
    out = weights * keep
    return out if p == 1 else out / (1 - p)
