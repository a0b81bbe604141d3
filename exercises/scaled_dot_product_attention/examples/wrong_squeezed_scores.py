# verdict: loses numerics
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query @ key.transpose(-2, -1)).squeeze() / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.view(*query.shape[:-1], key.size(-2)).masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1).view(*query.shape[:-1], key.size(-2))
    return weights @ value, weights
