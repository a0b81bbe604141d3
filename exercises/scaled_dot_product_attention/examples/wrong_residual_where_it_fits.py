# verdict: loses numerics
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("...qk,...kv->...qv", weights, value)
    if output.shape == query.shape:
        output = output + query  # residual connection
    return output, weights
