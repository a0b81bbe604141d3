# verdict: loses numerics
# diagnosis: an_extra_one_in_the_denominator
import torch


def softmax1(s):
    m = s.amax(-1, keepdim=True).clamp(min=0)
    e = torch.exp(s - m)
    return e / (torch.exp(-m) + e.sum(-1, keepdim=True))


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    s = query @ key.mT / query.shape[-1] ** 0.5
    return softmax1(s.masked_fill(~((j <= i) & ((j < num_sinks) | (i - j < window))), -torch.inf)) @ value
