# verdict: loses masking
import math
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        pass
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        value = value.masked_fill(~mask.any(-2).unsqueeze(-1), 0.0)
    return weights @ value, weights
