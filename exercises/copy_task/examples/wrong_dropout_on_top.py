# verdict: loses numerics
import torch
from torch import nn

dropout = nn.Dropout(0.1)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = dropout(torch.softmax(scores, dim=-1))
    return weights @ value, weights
