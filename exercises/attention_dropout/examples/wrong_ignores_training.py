# verdict: loses numerics
# diagnosis: drops_in_eval
import torch


def attention_dropout(weights, p, training=True):
    if p == 1:
        return torch.zeros_like(weights)
    mask = (torch.rand_like(weights) > p).float()
    return mask * weights / (1 - p)
