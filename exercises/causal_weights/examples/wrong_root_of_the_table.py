# verdict: loses numerics
# diagnosis: scaled_by_the_length
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return torch.softmax(scores.masked_fill(mask, -torch.inf) / scores.shape[-1] ** 0.5, dim=-1)
