# verdict: loses numerics
# diagnosis: scaled_by_the_width_itself
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.size(-2)
    query = query / query.size(-1) ** 0.5
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    s = (query @ key.transpose(-2, -1)) / query.size(-1) ** 0.5
    return s.masked_fill(~((j <= i) & ((j < num_sinks) | (i - j < window))), -torch.inf).softmax(-1) @ value
