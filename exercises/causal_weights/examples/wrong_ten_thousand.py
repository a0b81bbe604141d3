# verdict: loses masking
# diagnosis: fills_with_minus_ten_thousand
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    causal = torch.tril(torch.ones(T, T))
    scores = scores / math.sqrt(d_k)
    return F.softmax(torch.where(causal == 0, torch.tensor(-1e4), scores), dim=-1)
