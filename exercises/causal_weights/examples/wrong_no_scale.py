# verdict: loses numerics
# diagnosis: no_scaling
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    return F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
