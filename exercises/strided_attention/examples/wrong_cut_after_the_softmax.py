# verdict: loses masking
# diagnosis: masks_after_the_softmax
import torch


def strided_attention(query, key, value, stride):
    T = query.size(-2)
    d = torch.arange(T).view(T, 1) - torch.arange(T).view(1, T)
    w = ((query @ key.transpose(-2, -1)) / query.size(-1) ** 0.5).softmax(-1)
    return w.masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), 0.0) @ value
