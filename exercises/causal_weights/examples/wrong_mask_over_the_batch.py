# verdict: loses masking
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    # the triangle is as large as the batch and the rows, not as the table
    shape = scores.shape
    flat = scores.reshape(-1, shape[-1])
    mask = torch.triu(torch.ones_like(flat), diagonal=1).bool()
    return F.softmax(flat.masked_fill(mask, -math.inf) / d_k**0.5, dim=-1).view(shape)
