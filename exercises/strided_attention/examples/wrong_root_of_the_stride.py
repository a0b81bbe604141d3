# verdict: loses numerics
import torch


def strided_attention(query, key, value, stride):
    T = query.size(-2)
    d = torch.arange(T).view(T, 1) - torch.arange(T).view(1, T)
    s = (query @ key.transpose(-2, -1)) / stride**0.5
    return s.masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), -torch.inf).softmax(-1) @ value
