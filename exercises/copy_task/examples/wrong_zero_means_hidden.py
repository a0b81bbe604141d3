# verdict: loses numerics
# A visible score may be zero as well.
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / d_k**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
        scores = scores.masked_fill(scores == 0, float("-inf"))
    attn = torch.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn
