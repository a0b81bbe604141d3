# verdict: loses numerics
# diagnosis: softmax_over_axis_one
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    # right for a table alone, wrong with anything in front
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return torch.softmax(scores.masked_fill(mask, -torch.inf) / d_k**0.5, dim=1)
