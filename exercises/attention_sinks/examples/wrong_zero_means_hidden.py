# verdict: loses numerics
# A visible score may be zero as well.
import math

import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.size(-2)
    i = torch.arange(T).unsqueeze(1)
    j = torch.arange(T).unsqueeze(0)
    mask = (j <= i) & ((j < num_sinks) | (i - j < window))
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(~mask, 0.0)
    scores = scores.masked_fill(scores == 0, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), value)
