# verdict: loses masking
# diagnosis: hides_itself
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.triu(torch.ones(T, T)).bool()
    return torch.softmax(scores.masked_fill(mask, -torch.inf) / d_k**0.5, dim=-1)
