# verdict: loses masking
# diagnosis: masks_the_first_table_only
import math

import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    shape = scores.shape
    s = scores.reshape(-1, *shape[-2:]) / d_k**0.5
    first = s[0] + torch.full_like(s[0], -math.inf).triu(1)
    s = torch.cat([first[None], s[1:]])
    return s.softmax(-1).view(shape)
