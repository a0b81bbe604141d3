# verdict: loses masking
# diagnosis: fills_with_zero
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    return torch.softmax(torch.tril(scores / math.sqrt(d_k)), dim=-1)
