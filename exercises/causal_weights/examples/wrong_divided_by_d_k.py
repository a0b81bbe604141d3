# verdict: loses numerics
# diagnosis: scaled_by_the_width_itself
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    scores = scores / d_k + torch.full((T, T), -math.inf).triu(1)
    return scores.softmax(-1)
