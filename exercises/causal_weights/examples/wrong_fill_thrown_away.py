# verdict: loses masking
# diagnosis: no_mask
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T), diagonal=1).bool()
    scores = scores / d_k**0.5
    scores.masked_fill(mask, float("-inf"))
    return scores.softmax(dim=-1)
