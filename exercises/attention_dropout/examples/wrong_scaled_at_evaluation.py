# verdict: loses numerics
# diagnosis: rescaled_in_eval
import torch


def attention_dropout(weights, p, training=True):
    if training:
        return weights * (torch.rand_like(weights) > p)
    return weights * (1 - p)
