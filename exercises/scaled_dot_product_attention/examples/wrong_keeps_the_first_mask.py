# verdict: loses masking
import math
import torch

SEEN = []


def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None and mask.dim() == 3:
        SEEN.append(mask)
        mask = SEEN[0] if SEEN[0].shape == mask.shape else mask
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
