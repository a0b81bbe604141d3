# verdict: loses gradients
# diagnosis: scores_cut_off
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    s = scores.data / d_k**0.5
    s[..., torch.ones(T, T).triu(1).bool()] = -float("inf")
    return s.softmax(-1)
