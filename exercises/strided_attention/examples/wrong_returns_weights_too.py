# verdict: loses shapes
import torch


def strided_attention(query, key, value, stride):
    d = torch.arange(query.size(2))[:, None] - torch.arange(query.size(2))
    s = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    w = s.masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), -torch.inf).softmax(-1)
    return w @ value, w
