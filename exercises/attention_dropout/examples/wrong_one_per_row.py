# verdict: loses numerics
# diagnosis: drops_whole_rows
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    mask = (torch.rand_like(weights[..., :1]) > p).to(weights.dtype)
    return weights * mask / (1 - p)
