# verdict: loses numerics
# Divides the query that it was given in place: whoever called finds another one afterwards.
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    query /= math.sqrt(query.size(-1))
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
