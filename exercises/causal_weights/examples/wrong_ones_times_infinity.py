# verdict: loses masking
# diagnosis: zero_times_infinity
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T), diagonal=1) * float("-inf")
    return F.softmax(scores / math.sqrt(d_k) + mask, dim=-1)
