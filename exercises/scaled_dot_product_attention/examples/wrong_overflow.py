# verdict: loses numerics
# diagnosis: softmax_without_shift
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.exp(query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1]))
    if mask is not None:
        scores = scores * mask
    weights = scores / scores.sum(-1, keepdim=True)
    return weights @ value, weights
