# verdict: loses masking
import math
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        T = scores.size(-1)
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
