# verdict: loses gradients
import math

import torch


def stable_softmax(scores, eps=1e-10):
    top = scores.max(dim=-1, keepdim=True).values
    exps = torch.exp(scores - top)
    return exps / (exps.sum(dim=-1, keepdim=True) + eps)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = stable_softmax(scores)
    return torch.matmul(weights, value), weights
