# verdict: loses numerics
# diagnosis: drops_in_the_wrong_mode
import torch

def attention_dropout(weights, p, training=True):
    if training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    mask = (torch.rand_like(weights) > p).to(weights.dtype)
    return weights * mask / (1 - p)
