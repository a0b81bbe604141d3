# verdict: loses numerics
import math

import torch


def sink_attention(query, key, value, window, num_sinks):
    time = query.shape[-2]
    window = max(1, min(window, time - 1))
    place = torch.arange(time)
    distance = place[:, None] - place
    seen = (distance >= 0) & ((distance < window) | (place < num_sinks))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1) @ value
