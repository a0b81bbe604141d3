# verdict: loses numerics
# diagnosis: returns_the_scores
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    hidden = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(hidden, dim=-1) @ value, scores
