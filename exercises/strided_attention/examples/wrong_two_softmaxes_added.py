# verdict: loses numerics
# Each pattern gets a softmax of its own, and the two outputs are averaged.
import torch


def strided_attention(query, key, value, stride):
    T = query.size(-2)
    d = torch.arange(T).view(T, 1) - torch.arange(T).view(1, T)
    s = (query @ key.transpose(-2, -1)) / query.size(-1) ** 0.5
    near = s.masked_fill(~((d >= 0) & (d < stride)), -torch.inf).softmax(-1)
    far = s.masked_fill(~((d >= 0) & (d % stride == 0)), -torch.inf).softmax(-1)
    return (near @ value + far @ value) / 2
