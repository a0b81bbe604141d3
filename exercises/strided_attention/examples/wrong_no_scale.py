# verdict: loses numerics
# diagnosis: no_scaling
import torch
import torch.nn.functional as F


def strided_attention(query, key, value, stride):
    T = query.size(-2)
    d = torch.arange(T).view(T, 1) - torch.arange(T).view(1, T)
    m = torch.zeros(T, T).masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), float("-inf"))
    return F.softmax(query @ key.transpose(-2, -1) + m, dim=-1) @ value
