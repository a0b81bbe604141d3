# verdict: loses numerics
# diagnosis: scaled_by_d_k
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    query = query / math.sqrt(query.shape[-1])
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    attn = scores.softmax(dim=-1)
    return attn @ value, attn
