# verdict: loses masking
# diagnosis: hides_the_past
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    mask = torch.tril(torch.ones(T, T), diagonal=-1).bool()
    return torch.softmax(scores.masked_fill(mask, -torch.inf) / d_k**0.5, dim=-1)
