# verdict: loses numerics
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if weights.shape[-1] == weights.shape[-2]:
        return weights.transpose(-2, -1) @ value, weights
    return weights @ value, weights
