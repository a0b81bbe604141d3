# verdict: loses masking
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    # a small fill value, and divided by the root with everything else
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return F.softmax(scores.masked_fill(mask, -10.0) / math.sqrt(d_k), dim=-1)
