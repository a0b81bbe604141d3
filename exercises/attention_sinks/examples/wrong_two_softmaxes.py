# verdict: loses numerics
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    s = query @ key.mT / query.shape[-1] ** 0.5
    recent = s.masked_fill(~((j <= i) & (i - j < window)), -torch.inf).softmax(-1) @ value
    if num_sinks == 0:
        return recent
    sinks = s.masked_fill(~((j <= i) & (j < num_sinks)), -torch.inf).softmax(-1) @ value
    return (recent + sinks) / 2
