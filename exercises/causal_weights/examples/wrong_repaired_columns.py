# verdict: loses numerics
# diagnosis: repaired_over_the_columns
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    weights = (scores / d_k**0.5).softmax(-1).tril()
    return weights / weights.sum(-2, keepdim=True)
