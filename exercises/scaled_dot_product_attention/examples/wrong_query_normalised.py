# verdict: loses numerics
import torch
import torch.nn.functional as F

def scaled_dot_product_attention(query, key, value, mask=None):
    """QK-Norm, as newer models have it: queries of length one."""
    scores = F.normalize(query, dim=-1) @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
