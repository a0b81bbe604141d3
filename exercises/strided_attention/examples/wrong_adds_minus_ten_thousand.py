# verdict: loses masking
# -10000 is enough only while no hidden score is that far above the visible ones.
import math

import torch


def strided_attention(query, key, value, stride):
    T = query.size(-2)
    pos = torch.arange(T)
    dist = pos.unsqueeze(1) - pos.unsqueeze(0)
    mask = (dist >= 0) & ((dist < stride) | (dist % stride == 0))
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    scores = scores + ~mask * -10000.0
    return torch.matmul(torch.softmax(scores, dim=-1), value)
