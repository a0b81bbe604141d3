# verdict: loses shapes
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.bmm(query, key.transpose(1, 2)) / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, value), weights
