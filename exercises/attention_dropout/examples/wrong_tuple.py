# verdict: loses shapes
# diagnosis: returns_the_mask_too
import torch


def attention_dropout(weights, p, training=True):
    mask = torch.ones_like(weights) if not training else (torch.rand_like(weights) > p).to(weights.dtype)
    scale = 1 / (1 - p) if training and p < 1 else 1
    return weights * mask * scale, mask
