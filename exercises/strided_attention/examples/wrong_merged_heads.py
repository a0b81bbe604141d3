# verdict: loses shapes
# diagnosis: heads_merged
import torch


def strided_attention(query, key, value, stride):
    B, H, T, D = query.shape
    d = torch.arange(T)[:, None] - torch.arange(T)
    s = query @ key.transpose(-2, -1) / D**0.5
    out = s.masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), -torch.inf).softmax(-1) @ value
    return out.transpose(1, 2).contiguous().view(B, T, H * D)
