# verdict: loses masking
# diagnosis: masks_after_the_softmax
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    weights = torch.softmax(scores / math.sqrt(d_k), dim=-1)
    return weights * torch.tril(torch.ones_like(weights))
