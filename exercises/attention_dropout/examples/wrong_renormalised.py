# verdict: loses numerics
# diagnosis: rows_made_to_add_up
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    kept = weights * (torch.rand_like(weights) >= p)
    return kept / kept.sum(-1, keepdim=True)
