# verdict: loses numerics
# diagnosis: overflowing_softmax
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    e = torch.exp(scores / d_k**0.5).tril()
    return e / e.sum(dim=-1, keepdim=True)
